import { afterAll } from 'vitest';
import { endFile } from './file-end.ts';
import { reportResponses } from './held-responses.ts';

/*
 * Runs before each test file, in the process that several files share: modules are loaded once, so no module of the tests
 * can register a hook for each file by being imported. Hooks run in reverse order, so these are the last of a file.
 */
// Hooks of a file whose tests are all skipped do not run: what it has started is ended here.
await endFile();
afterAll(reportResponses);
afterAll(endFile);
