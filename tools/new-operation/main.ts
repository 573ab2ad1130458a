import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BadName, planOperation } from './plan.ts';
import { operationSource, testSource, withLine } from './templates.ts';

/* npm run new:operation <feature> <verb-noun>: the file of an operation, its line in the router, and a test that fails. */

process.chdir(join(import.meta.dirname, '../..'));
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const [feature, operation, ...more] = process.argv.slice(2);
try {
  if (feature === undefined || operation === undefined || more.length > 0)
    throw new BadName('Say which: npm run new:operation <feature> <verb-noun>, such as projects archive-project.');
  const plan = planOperation(feature, operation);
  writeFileSync(plan.file, operationSource(plan), { flag: 'wx' });
  writeFileSync(plan.routerFile, withLine(readFileSync(plan.routerFile, 'utf8'), plan));
  mkdirSync(dirname(plan.testFile), { recursive: true });
  writeFileSync(plan.testFile, testSource(plan), { flag: 'wx' });
  say(`Wrote ${plan.file}: ${plan.name}, ${plan.method} ${plan.path}
      ${plan.routerFile}: its line
      ${plan.testFile}: a test, which fails

Next: say in the operation who may call it, what it takes and answers, and write its body and its test.
Then \`npm run generate\`, which writes it into the client, and \`npm run check\`.`);
} catch (error) {
  if (!(error instanceof BadName)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
