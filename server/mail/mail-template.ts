import type { Mail } from './mailer.ts';

/** The parts of a mail, in reading order. Text and HTML are made of the same parts, so they say the same. */
export type MailTemplate = {
  subject: string;
  template: string;
  paragraphs: string[];
  /** A code to type, shown large. */
  code?: string;
  /** A link to follow. */
  action?: { label: string; url: string };
  /** Smaller print at the end. */
  footnote: string;
  /** A link in the small print, such as to turn off such mail. */
  footlink?: { label: string; url: string };
};

/** The sender, named at the end of a mail. */
const sender = 'Work Management';

/**
 * Renders a mail. Its only links are its action and its footlink; text of callers is shown, but mail programs turn none
 * of it into links.
 */
export function renderMail(to: string, words: MailTemplate): Mail {
  const content: MailTemplate = {
    ...words,
    paragraphs: words.paragraphs.map(withoutLinks),
    footnote: withoutLinks(words.footnote),
  };
  const subject = oneLine(withoutLinks(content.subject));
  return {
    to,
    subject,
    template: content.template,
    // Providers may reject text that was cut in the middle of a character.
    text: asText(content).toWellFormed(),
    html: asHtml({ ...content, subject }).toWellFormed(),
  };
}

/** Text that mail programs turn into a link: a scheme, `www.`, a domain. */
const linkLike = /\/\/|www\.|[\p{L}\p{N}-][.。．｡]\p{L}{2,}/iu;
const mailAddress = /^[(<"'@]*[\p{L}\p{N}._%+-]+@[\p{L}\p{N}.-]+[)>"',.;:!?]*$/u;

/** Adds a zero-width space after each joint of a web address: it reads the same and is no longer a link. */
const withoutLinks = (text: string): string =>
  text.replaceAll(/\S+/gu, (word) =>
    !linkLike.test(word) || mailAddress.test(word) ? word : word.replaceAll(/[.。．｡:/@]/gu, '$&\u200B'),
  );

/** Cuts at whole characters. */
const subjectStart = /^[^]{0,200}/u;

/** Removes control characters: a line break in a subject would start another header. */
function oneLine(text: string): string {
  const line = text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
  return subjectStart.exec(line)![0].toWellFormed();
}

function asText({ paragraphs, code, action, footnote, footlink }: MailTemplate): string {
  const linked = (link: MailTemplate['action']) => link && `${link.label}:\n${link.url}`;
  const blocks = [...paragraphs, code, linked(action), footnote, linked(footlink), sender];
  return `${blocks.filter((block) => block !== undefined).join('\n\n')}\n`;
}

/**
 * The design of the demo page and of /docs, with literal values: mail programs support no variables. The dark colours
 * are in `page`.
 */
const font = "Figtree,'Segoe UI',system-ui,-apple-system,'Helvetica Neue',Arial,sans-serif";
const mono = "ui-monospace,'SF Mono','Cascadia Mono',Menlo,Consolas,monospace";
const small = 'font-size:14px;color:#545d6b';

function asHtml({ subject, paragraphs, code, action, footnote, footlink }: MailTemplate): string {
  const parts = [
    ...paragraphs.map(
      (paragraph) => `<p style="margin:0 0 16px">${escapeHtml(paragraph).replaceAll('\n', '<br>')}</p>`,
    ),
    ...(code === undefined ? [] : [largeCode(code)]),
    ...(action === undefined ? [] : [button(action)]),
    `<p class="soft line" style="margin:24px 0 0;padding-top:16px;border-top:1px solid #dedbcf;${small}">${escapeHtml(footnote)}</p>`,
    ...(footlink === undefined ? [] : [smallLink(footlink)]),
  ];
  return page(subject, parts.join('\n'));
}

function largeCode(code: string): string {
  return `<p class="accent" style="margin:24px 0;font:600 32px/1.2 ${mono};letter-spacing:.25em;color:#0d6b5e">${escapeHtml(code)}</p>`;
}

/** A button, and its address in small print for readers who cannot click it. */
function button({ label, url }: { label: string; url: string }): string {
  const address = escapeHtml(url);
  return `<p style="margin:24px 0 16px"><a class="button" href="${address}" style="display:inline-block;padding:10px 20px;border-radius:8px;background:#0d6b5e;color:#ffffff;text-decoration:none;font-weight:600">${escapeHtml(label)}</a></p>
<p class="soft" style="margin:0 0 16px;word-break:break-all;${small}">${address}</p>`;
}

function smallLink({ label, url }: { label: string; url: string }): string {
  const address = escapeHtml(url);
  return `<p class="soft" style="margin:8px 0 0;word-break:break-all;${small}"><a class="accent" href="${address}" style="color:#0d6b5e">${escapeHtml(label)}</a><br>${address}</p>`;
}

/**
 * Blocks one below the other, each with inline styles, which programs without style sheets also show in order; a style
 * sheet adds the dark colours. The logo is a letter, because mail programs load no pictures. It is at the end, because
 * lists of mails show how a mail begins.
 */
function page(subject: string, body: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">
<title>${escapeHtml(subject)}</title>
<style>:root{color-scheme:light dark}
@media (prefers-color-scheme:dark){.page{background:#12161d!important}.card{background:#1a202a!important;border-color:#303a48!important;color:#e9edf3!important}.soft{color:#a9b4c4!important}.line{border-color:#303a48!important}.accent{color:#5fd0bb!important}.button{background:#5fd0bb!important;color:#06241f!important}}
</style></head>
<body class="page" style="margin:0;padding:0;background:#f6f5f0">
<div class="page" style="padding:32px 16px;background:#f6f5f0">
<div class="card" style="max-width:496px;margin:0 auto;padding:32px;background:#ffffff;border:1px solid #dedbcf;border-radius:14px;font:16px/1.5 ${font};color:#1c2430;overflow-wrap:break-word">
${body}
</div>
<p class="soft" style="max-width:560px;margin:16px auto 0;text-align:center;font:600 14px/32px ${font};color:#545d6b"><span aria-hidden="true" style="display:inline-block;width:32px;border-radius:9px;background:#0d6b5e;color:#ffffff;font-weight:700">W</span>&nbsp; ${sender}</p>
</div></body></html>
`;
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character]!);
}
