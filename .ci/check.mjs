import { spawn } from 'node:child_process';

/*
 * What a commit must pass, two parts at a time; only what a failed part says is shown. `--static` leaves out the tests,
 * which are for when the whole suite does not run anyway.
 */

/** The longest first. */
const parts = ['lint', 'types', 'check:tests', 'generate:check', 'unused', 'format:check'];
const chosen = process.argv.includes('--static') ? parts.filter((name) => name !== 'check:tests') : parts;

/** @param {string} name a script of package.json */
function run(name) {
  const begun = performance.now();
  const child = spawn('npm', ['run', '--silent', name], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const output of [child.stdout, child.stderr]) output.on('data', (chunk) => (said += String(chunk)));
  return new Promise((resolve) => {
    child.once('close', (code) => {
      const seconds = ((performance.now() - begun) / 1000).toFixed(1);
      console.log(`${code === 0 ? 'passed' : 'FAILED'}: npm run ${name} (${seconds} s)`);
      if (code !== 0) {
        console.log(said);
        process.exitCode = 1;
      }
      resolve(undefined);
    });
  });
}

async function work() {
  for (let name = chosen.shift(); name !== undefined; name = chosen.shift()) await run(name);
}
await Promise.all([work(), work()]);
