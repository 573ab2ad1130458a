import { readFileSync, writeFileSync } from 'node:fs';
import { definedErrors } from '../../server/errors/api-error.ts';
import { appRouter } from '../../server/router.ts';
import { proceduresOf } from './operations.ts';
import { sourcesOf } from './source.ts';

/* `npm run generate`: writes the client from the definitions that REST, tRPC and OpenAPI also use. */

for (const [name, made] of Object.entries(sourcesOf(proceduresOf(appRouter), definedErrors()))) {
  const path = `client-sdk/src/${name}.ts`;
  const target = new URL(`../../${path}`, import.meta.url);
  if (!process.argv.includes('--check')) {
    writeFileSync(target, made);
    console.log(`Wrote ${path}`);
  } else if (readFileSync(target, 'utf8') !== made) {
    console.error(`${path} is not current: run \`npm run generate\` and commit the result.`);
    process.exitCode = 1;
  }
}
