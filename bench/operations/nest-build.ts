import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../nest/', import.meta.url));

/** Installs and compiles the NestJS side where that has not been done; its packages are none of this service's. */
export function prepareNest(): void {
  const run = (...parameters: string[]): void =>
    void execFileSync('npm', parameters, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  if (!existsSync(`${folder}node_modules`)) run('ci', '--no-progress', '--ignore-scripts');
  run('run', '--silent', 'build');
}
