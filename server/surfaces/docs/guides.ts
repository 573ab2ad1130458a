import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Tokens } from 'marked';
import { page } from './pages.ts';

/*
 * Pages of docs/ for callers, at /docs/guides/NAME: a third party has the service, and not its repository.
 */

/** In the order of their list. The other pages of docs/ are for operators and developers. */
export const guides = [
  'rest',
  'search',
  'time-periods',
  'money',
  'csv-imports',
  'webhooks',
  'exports',
  'audit',
  'personal-data',
  'oauth',
  'mcp',
] as const;

type Guide = (typeof guides)[number];

const read = (name: Guide): string => readFileSync(join(import.meta.dirname, '../../../docs', `${name}.md`), 'utf8');

const titleOf = (markdown: string): string => /^# (.*)$/m.exec(markdown)![1]!;

/** The part of an address that leads to a heading, as on GitHub. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-');

export function guideListPage(root: string): string {
  const items = guides.map((name) => `<li><a href="${root}docs/guides/${name}">${titleOf(read(name))}</a></li>`);
  return page({
    root,
    title: 'Guides',
    current: 'docs/guides',
    body: `<main class="text">\n<h1>Guides</h1>\n<ul>\n${items.join('\n')}\n</ul>\n</main>`,
  });
}

/** The page of a guide, whose examples call the service at its public address. */
export async function guidePage(name: Guide, root: string, publicUrl: string): Promise<string> {
  // Loaded with the first page: a start needs none.
  const { Marked } = await import('marked');
  const marked = new Marked({
    renderer: {
      heading({ tokens, text, depth }: Tokens.Heading) {
        return `<h${depth} id="${anchorOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link) {
        const text = this.parser.parseInline(tokens);
        const address = addressOf(href, root);
        return address === undefined ? text : `<a href="${address}">${text}</a>`;
      },
      // Pictures are those of the repository.
      html: () => '',
    },
    hooks: {
      // A table that is wider than a phone scrolls by itself.
      postprocess: (html) =>
        html.replaceAll('<table>', '<div class="wide"><table>').replaceAll('</table>', '</table></div>'),
    },
  });
  const markdown = read(name).replaceAll('http://127.0.0.1:3000', publicUrl);
  const body = await marked.parse(markdown);
  return page({
    root,
    title: titleOf(markdown),
    current: 'docs/guides',
    body: `<main class="text">\n<p><a href="${root}docs/guides">All guides</a></p>\n${body}</main>`,
  });
}

/** Where a link of a page of docs/ leads here; undefined for files that are served nowhere. */
function addressOf(href: string, root: string): string | undefined {
  if (/^(https?:|#)/.test(href)) return href;
  const [, name, anchor = ''] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
  return guides.some((one) => one === name) ? `${root}docs/guides/${name}${anchor}` : undefined;
}
