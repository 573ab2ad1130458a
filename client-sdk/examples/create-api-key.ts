import { existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import type { ApiKeyScope } from 'work-management-client';
import { run, type Call } from './terminal/run.ts';
import { connectionHelp, signIn, urlOf } from './terminal/connection.ts';
import { Problem, toId, UsageProblem } from './terminal/problem.ts';

const help = `
Makes an API key for the other scripts and writes it, with the address of the service, to a file that only you can read.

  node create-api-key.ts [options]

Options:
  --output FILE           the file; wms.env unless given
  --scopes LIST           what the key may do, such as time:read,tasks:read; read,write unless given
  --days N                how long the key is good; 90 unless given
  --name NAME             what the list of your keys calls it; "Scripts on" this machine unless given
  --force                 replaces the file
${connectionHelp}`;

const options = {
  output: { type: 'string' },
  scopes: { type: 'string' },
  days: { type: 'string' },
  name: { type: 'string' },
  force: { type: 'boolean' },
} as const;

async function main({ values, operands, signal }: Call<typeof options>): Promise<0 | 1> {
  const { output = 'wms.env', name = `Scripts on ${hostname()}`, force = false } = values;
  if (operands.length > 0) throw new UsageProblem(`"${operands[0]}" is no option`);
  const scopes = (values.scopes ?? 'read,write').split(',').map(toScope);
  const days = toId(values.days ?? '90', '--days');

  const refuseToReplace = (): void => {
    if (!force && existsSync(output)) throw new Problem(`${output} is there already. --force replaces it.`);
  };
  refuseToReplace();
  const connection = await signIn(values, signal);
  const unfinished = `${output}.${process.pid}.part`;
  // Opened before the key is created: a key that cannot be stored would be lost.
  const file = await open(unfinished, 'wx', 0o600);
  try {
    const expiresAt = new Date(Date.now() + days * 24 * 3600 * 1000).toISOString();
    const { key } = await connection.client.apiKeys.create({ name: name.slice(0, 100), scopes, expiresAt }, { signal });
    const settings = {
      WMS_URL: urlOf(values.url),
      WMS_API_KEY: key,
    };
    await file.writeFile(
      Object.entries(settings)
        .map((entry) => `${entry.join('=')}\n`)
        .join(''),
    );
    refuseToReplace();
    await rename(unfinished, output);
    process.stderr.write(`The key is in ${output}, good until ${expiresAt.slice(0, 10)}. Use it with:\n`);
    process.stdout.write(`node --env-file=${output} SCRIPT …\n`);
    return 0;
  } finally {
    await file.close();
    await rm(unfinished, { force: true });
    await connection.close();
  }
}

/** The service knows which there are, and says so where it is given another one. */
const toScope = (text: string): ApiKeyScope => text.trim() as ApiKeyScope;

await run(help, options, main);
