import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { planOperation } from '../../tools/new-operation/plan.ts';
import { blocksOf, runShell } from '../support/pages.ts';
import { openTour } from '../support/tours.ts';

/* The walk-through of CONTRIBUTING.md, done with what stands there in a copy of the repository. */

const root = fileURLToPath(new URL('../..', import.meta.url));
const heading = 'Walk-through: archive a project';
/** It takes half a minute on a machine that does nothing else. */
const timeout = 300_000;
const tour = await openTour('contract/walk-through.slow.test.ts');
const folder = await mkdtemp(join(tmpdir(), 'wms-walk-through-'));
await copyRepository();
afterAll(() => rm(folder, { recursive: true }));

/** All that git keeps, the packages and what this run has built; the client among the packages is the copy's own. */
async function copyRepository(): Promise<void> {
  const left = new Set(['.git', '.data', 'node_modules', 'dist', 'artifacts'].flatMap((name) => [name, `/${name}`]));
  const filter = (path: string) => !left.has(path.slice(path.lastIndexOf('/')));
  for (const name of await readdir(root))
    if (!left.has(name)) await cp(join(root, name), join(folder, name), { recursive: true, filter });
  const modules = join(folder, 'node_modules');
  await mkdir(modules);
  for (const name of await readdir(join(root, 'node_modules')))
    if (!/^\.(?!bin$)|^work-management-client$/.test(name))
      await symlink(join(root, 'node_modules', name), join(modules, name));
  await symlink('../client-sdk/src', join(modules, 'work-management-client'));
  for (const built of ['node_modules/.cache/database-template', 'client-sdk/examples/web/dist'])
    if (existsSync(join(root, built))) await cp(join(root, built), join(folder, built), { recursive: true });
}

const read = (path: string): Promise<string> => readFile(join(folder, path), 'utf8');
/** The files that a command tests share one process: each further one would load the whole service for a few tests. */
const run = (commands: string): Promise<string> =>
  runShell(folder, commands, { NO_COLOR: '1', VITEST_MAX_WORKERS: '1' });

describe('npm run new:operation', () => {
  test.each([
    ['gardens', 'plant-tree', /^There is no feature "gardens" with operations: take one of api-keys, audit, auth,/],
    ['mornings', 'end-morning', /^There is no feature "mornings"/],
    ['projects', 'archive', /^"archive" is no name of an operation: write a verb and a noun, such as/],
    ['projects', 'ArchiveProject', /^"ArchiveProject" is no name/],
    ['projects', '../evil-path', /^"..\/evil-path" is no name/],
    ['projects', 'update-project', /^There is an operation projects.update or a file/],
    ['employees', 'restore-employee', /^There is an operation employees.restore or a file/],
  ])('refuses %s %s with a sentence', (feature, operation, sentence) => {
    expect(() => planOperation(feature, operation)).toThrow(sentence);
  });

  test.each([
    ['projects', 'copy-project', 'projects.copy', 'POST /api/projects/{project_id}/copy/', 'work'],
    ['projects', 'get-budget', 'projects.getBudget', 'GET /api/projects/{project_id}/budget/', 'work'],
    ['task-logs', 'approve-task-log', 'taskLogs.approve', 'POST /api/task-logs/{taskLogId}/approve/', 'time'],
    ['employees', 'praise-employee', 'employees.praise', 'POST /api/employees/{_id}/praise/', 'company'],
    ['statistics', 'get-forecast', 'statistics.getForecast', 'GET /api/statistics/forecast/', 'work'],
    ['timers', 'list-timers', 'timers.list', 'GET /api/timers/', 'time'],
  ])('places %s %s', (feature, operation, name, line, folderOfTest) => {
    const plan = planOperation(feature, operation);
    expect(plan).toMatchObject({ name, testFile: `test/features/${folderOfTest}/${operation}.test.ts` });
    expect(`${plan.method} ${plan.path}`).toBe(line);
  });

  test('says how it is called', { timeout }, async () => {
    const said = await run('npm run --silent new:operation projects 2>&1 || true');
    expect(said).toMatch(/^Say which: npm run new:operation <feature> <verb-noun>, such as/);
  });
});

describe('the walk-through', () => {
  test('begins with an operation that compiles and a test that fails', { timeout }, async () => {
    const said = await run(tour.take('CONTRIBUTING.md', heading));
    expect(said).toContain('projects.archive, POST /api/projects/{project_id}/archive/');
    expect(await read('server/features/projects/index.ts')).toContain('\n  archive: archiveProject,\n});');
    const compilation = { extends: './tsconfig.json', include: ['server/features/projects'], exclude: [] };
    await writeFile(join(folder, 'tsconfig.projects.json'), JSON.stringify(compilation));
    expect(await run('npx tsc -p tsconfig.projects.json')).toBe('');
    const failing = await run('npx vitest run archive-project || true');
    expect(failing).toMatch(/Tests {2}1 failed \| 1 passed/);
  });

  test('ends with its test and the generated ones passed', { timeout }, async () => {
    const programs = (await blocksOf('CONTRIBUTING.md')).filter(
      (one) => one.heading === heading && one.language === 'ts',
    );
    expect(programs).toHaveLength(2);
    for (const { text } of programs) {
      const [, path = '', source = ''] = /^\/\/ (\S+)\n([^]*)$/.exec(text) ?? [];
      // Both are there already.
      expect(await read(path)).not.toBe(source);
      await writeFile(join(folder, path), source);
    }
    const said = await run(tour.take('CONTRIBUTING.md', heading));
    expect(said).toMatch(/Test Files {2}\d+ passed/);
    expect(Number(/Tests {2}(\d+) passed/.exec(said)?.[1])).toBeGreaterThan(6);
    expect(await read('client-sdk/src/contract.ts')).toContain('  archive(input: ');
  });

  test('leaves no command of the page out', () => {
    expect(tour.left()).toEqual([]);
  });
});
