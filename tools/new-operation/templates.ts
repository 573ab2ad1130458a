import type { Plan } from './plan.ts';

/** The words of an operation as a sentence, such as `Archive a project`. */
function summaryOf({ constant }: Plan): string {
  const [verb = '', ...noun] = constant.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).split(' ');
  const article = noun.at(-1)?.endsWith('s') ? 'the' : /^[aeiou]/.test(noun[0] ?? '') ? 'an' : 'a';
  return [verb.replace(/^./, (letter) => letter.toUpperCase()), article, ...noun].join(' ');
}

/** As TypeScript writes it. */
const keysOf = ({ keys }: Plan): string => JSON.stringify(keys).replaceAll('"', "'").replaceAll(',', ', ');

/** An operation that compiles, is documented, and finds nothing yet. */
export function operationSource(plan: Plan): string {
  const { constant, method, path, parameter } = plan;
  const [name, kind] = [parameter?.name, parameter?.kind];
  const imports = [
    ...(parameter ? ["import { z } from 'zod';", "import { NOT_FOUND } from '../../errors/errors.ts';"] : []),
    "import { rest } from '../../kernel/operation.ts';",
    "import { member } from '../../kernel/procedures.ts';",
    `import { done${parameter ? ', idOf' : ''} } from '../../kernel/wire/fields.ts';`,
  ];
  return `${imports.join('\n')}

export const ${constant} = member(${keysOf(plan)})
  .meta(
    rest('${method} ${path}', {
      section: 'Additions',
      summary: '${summaryOf(plan)}',
${parameter && method !== 'GET' ? `      example: { ${name}: 42 },\n` : ''}    }),
  )
${parameter ? `  .input(z.object({ ${name}: idOf('${kind}') }))\n` : ''}  .output(done)
  .${method === 'GET' ? 'query' : 'mutation'}(async () => {
    throw ${parameter ? 'NOT_FOUND()' : `new Error('${plan.name} is not written yet')`};
  });
`;
}

/** The feature's router with one operation more. */
export function withLine(source: string, { constant, key, file }: Plan): string {
  const line = key === constant ? constant : `${key}: ${constant}`;
  const path = `./${file.split('/').at(-1)!}`;
  const imports = source.split('\n').filter((one) => one.startsWith('import '));
  const next = imports.find((one) => (/from '(\.\/.*)'/.exec(one)?.[1] ?? '') > path);
  const own = `import { ${constant} } from '${path}';`;
  const last = imports.at(-1)!;
  const imported = next ? source.replace(next, `${own}\n${next}`) : source.replace(last, `${last}\n${own}`);
  // Short routers stand on one line.
  return imported.replace(/,?( ?)(\n?)\}\);\n$/, (_, space: string, end: string) =>
    end === '' ? `, ${line}${space}});\n` : `,\n  ${line},\n});\n`,
  );
}

/** A test that fails until the operation does something, and holds already that companies are kept apart. */
export function testSource({ name, method, path, parameter }: Plan): string {
  const send = method.toLowerCase();
  const url = path.replace(/\{\w+\}/, parameter ? `\${own.${parameter.kind}}` : '');
  const foreign = `
test('${name} is not found for another company', async () => {
  expect(errorOf(await neighbour.${send}(path))).toEqual({ status: 404, code: 'NOT_FOUND' });
});
`;
  return `import { expect, test } from 'vitest';
${parameter ? "import { errorOf } from '../../support/actor.ts';\n" : ''}import { startService } from '../../support/service.ts';
${parameter ? "import { makeThings } from '../../support/things.ts';\n" : ''}
const service = await startService();
const admin = await service.${parameter ? 'signIn((await service.registerCompany()).email)' : 'registerCompany()'};
${parameter ? 'const neighbour = await service.registerCompany();\nconst own = await makeThings(service, admin, await service.addEmployee(admin));\n' : ''}const path = ${parameter ? `\`${url}\`` : `'${url}'`};

test('${name} does what it is for', async () => {
  const { status, body } = await admin.${send}(path);
  expect({ status, body }).toEqual({ status: 200, body: { success: true } });
});
${parameter ? foreign : ''}`;
}
