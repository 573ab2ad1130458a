import { readFileSync, writeFileSync } from 'node:fs';
import { definedErrors } from '../../server/errors/api-error.ts';
import { appRouter } from '../../server/router.ts';
import { commandTableOf, pageWithCommands } from './command-table.ts';
import { proceduresOf } from './operations.ts';
import { sourcesOf } from './source.ts';

/* `npm run generate`: writes the client from the definitions that REST, tRPC and OpenAPI also use. */

const page = 'client-sdk/docs/command.md';
const procedures = proceduresOf(appRouter);
const { contract, operations } = sourcesOf(procedures, definedErrors());
const files = {
  'client-sdk/src/contract.ts': contract,
  'client-sdk/src/operations.ts': operations,
  'client-sdk/command/table.ts': commandTableOf(procedures),
  [page]: pageWithCommands(readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8'), procedures),
};

for (const [path, made] of Object.entries(files)) {
  const target = new URL(`../../${path}`, import.meta.url);
  if (!process.argv.includes('--check')) {
    writeFileSync(target, made);
    console.log(`Wrote ${path}`);
  } else if (readFileSync(target, 'utf8') !== made) {
    console.error(`${path} is not current: run \`npm run generate\` and commit the result.`);
    process.exitCode = 1;
  }
}
