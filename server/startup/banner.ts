import type { Running } from '../start.ts';

/** A few lines for newcomers: all addresses, and a first call that works when pasted. */
export function bannerOf(running: Running): string {
  const { url, publicUrl, opsUrl, docsUrl, databaseServer, dataFolder, mailFile, demoPage, demo } = running;
  const facts: [name: string, value: string | undefined][] = [
    ['Public address', publicUrl === url ? undefined : publicUrl],
    ['Demo page', demoPage],
    ['API reference', docsUrl],
    ['Metrics', opsUrl && `${opsUrl}/metrics`],
    ['Database', databaseServer === undefined ? `embedded, in ${dataFolder}` : `PostgreSQL at ${databaseServer}`],
    ['Mail', mailFile === undefined ? 'sent through SendGrid' : `written to ${mailFile}`],
    ['Demo sign-in', demo && `${demo.email}  ${demo.password}`],
  ];
  const lines = facts.flatMap(([name, value]) => (value === undefined ? [] : [`  ${name.padEnd(16)}${value}`]));
  const firstCall = demo
    ? ['', '  Try it:', `  curl -s ${url}/login/ -H 'Content-Type: application/json' -d '${JSON.stringify(demo)}'`]
    : [];
  return ['', `Work Management Service is ready at ${url}`, '', ...lines, ...firstCall, '', ''].join('\n');
}
