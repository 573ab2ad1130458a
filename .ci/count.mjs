import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/*
 * Reads what vitest wrote of several runs of the same suite and prints the sum, alone on the last line. Fails where a
 * test failed, a run is missing or empty, or a test or a file ran in none of the runs: a test that is skipped everywhere proves nothing.
 * NAME.responses.json, next to NAME.json, says how many answers that run checked against /openapi.json. None is a failure too.
 */

/** @type {Map<string, string[]>} test to its outcomes */
const outcomes = new Map();
const filesLeft = new Set(globSync('test/**/*.test.ts').map((file) => resolve(file)));
const problems = [];
const counts = { passed: 0, failed: 0, skipped: 0 };
const responses = { checked: 0, undeclared: 0 };

for (const file of process.argv.slice(2)) {
  let report;
  try {
    report = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    problems.push(`${file} was not written: that run ended before its time`);
    counts.failed += 1;
    continue;
  }
  const { checked, undeclared } = readResponses(file.replace(/\.json$/, '.responses.json'));
  if (checked === 0) problems.push(`no answer was held against /openapi.json in ${file}`);
  if (undeclared > 0) problems.push(`${undeclared} answers in ${file} are not in /openapi.json`);
  responses.checked += checked;
  responses.undeclared += undeclared;
  if (report.numPassedTests === 0) problems.push(`no test passed in ${file}`);
  for (const { name, status, assertionResults } of report.testResults) {
    filesLeft.delete(name);
    if (status === 'failed' && !assertionResults.some((one) => one.status === 'failed')) {
      problems.push(`${name} failed as a whole`);
      counts.failed += 1;
    }
    for (const { fullName, status: outcome } of assertionResults) {
      counts[outcome === 'passed' || outcome === 'failed' ? outcome : 'skipped'] += 1;
      if (outcome === 'failed') problems.push(`failed: ${fullName}`);
      const test = `${name} ${fullName}`;
      outcomes.set(test, [...(outcomes.get(test) ?? []), outcome]);
    }
  }
}

for (const [test, ofRuns] of outcomes)
  if (!ofRuns.some((outcome) => outcome === 'passed' || outcome === 'failed')) problems.push(`ran nowhere: ${test}`);
for (const file of filesLeft) problems.push(`ran nowhere: ${file}`);

/** @param {string} file */
function readResponses(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return { checked: 0, undeclared: 0 };
  }
}

for (const problem of problems) console.log(problem);
if (problems.length > 0) process.exitCode = 1;
console.log(`${responses.checked} answers held against /openapi.json, ${responses.undeclared} undeclared`);
console.log(
  `${counts.passed} passed, ${counts.failed} failed${counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''}`,
);
