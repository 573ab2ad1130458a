import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { renderMail } from '../../server/mail/mail-template.ts';

/* The demo page, the pages under /docs and the mails look like one thing. */

const read = (path: string): Buffer => readFileSync(new URL(`../../${path}`, import.meta.url));

test.each([
  ['tokens.css', 'client-sdk/examples/web/src/styles/tokens.css'],
  ['mark.svg', 'client-sdk/examples/web/public/mark.svg'],
  ['figtree.woff2', 'node_modules/@fontsource-variable/figtree/files/figtree-latin-wght-normal.woff2'],
])('the pages under /docs have the same %s as the demo page', (name, path) => {
  expect(read(`server/surfaces/docs/files/${name}`).equals(read(path))).toBe(true);
});

test('mails have the colours of both, light and dark', () => {
  const pairs = [
    ...read('server/surfaces/docs/files/tokens.css')
      .toString()
      .matchAll(/light-dark\((#\w+), (#\w+)\)/g),
  ];
  const { html } = renderMail('ada@example.com', {
    subject: 'a',
    template: 'a',
    paragraphs: ['a'],
    code: '123456',
    action: { label: 'a', url: 'https://example.com' },
    footnote: 'a',
  });
  const [light, dark] = [html.replace(/<style>[^]*<\/style>/, ''), /<style>[^]*<\/style>/.exec(html)![0]];
  const coloursIn = (text: string): string[] => text.match(/#[0-9a-f]{6}\b/g)!;
  expect(pairs.map(([, one]) => one)).toEqual(expect.arrayContaining(coloursIn(light)));
  expect(pairs.map(([, , one]) => one)).toEqual(expect.arrayContaining(coloursIn(dark)));
});
