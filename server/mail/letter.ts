import type { Mail } from './mailer.ts';

/** The parts of a mail, in reading order. Text and HTML are both made of them, so they say the same. */
export type Letter = {
  subject: string;
  template: string;
  paragraphs: string[];
  /** A code to be typed off, shown large. */
  code?: string;
  /** A link to follow. */
  action?: { label: string; url: string };
  /** Smaller print at the end. */
  footnote: string;
};

export function write(to: string, letter: Letter): Mail {
  const subject = oneLine(letter.subject);
  return {
    to,
    subject,
    template: letter.template,
    // What was cut off in the middle of a character is no text that a provider must take.
    text: asText(letter).toWellFormed(),
    html: asHtml({ ...letter, subject }).toWellFormed(),
  };
}

/** By whole characters, not by halves of them. */
const subjectStart = /^[^]{0,200}/u;

/** A line break in a subject would start a header of its own; other control characters have no business there either. */
function oneLine(text: string): string {
  const line = text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
  return subjectStart.exec(line)![0].toWellFormed();
}

function asText({ paragraphs, code, action, footnote }: Letter): string {
  const blocks = [...paragraphs, code, action && `${action.label}:\n${action.url}`, footnote];
  return `${blocks.filter((block) => block !== undefined).join('\n\n')}\n`;
}

const font = "system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
const small = 'font-size:13px;color:#5b6474';

function asHtml({ subject, paragraphs, code, action, footnote }: Letter): string {
  const parts = [
    ...paragraphs.map(
      (paragraph) => `<p style="margin:0 0 16px">${escapeHtml(paragraph).replaceAll('\n', '<br>')}</p>`,
    ),
    ...(code === undefined ? [] : [largeCode(code)]),
    ...(action === undefined ? [] : [button(action)]),
    `<p class="small line" style="margin:24px 0 0;padding-top:16px;border-top:1px solid #e3e7ef;${small}">${escapeHtml(footnote)}</p>`,
  ];
  return page(subject, parts.join('\n'));
}

function largeCode(code: string): string {
  return `<p class="strong" style="margin:24px 0;font:600 32px/1.2 ui-monospace,Menlo,Consolas,monospace;letter-spacing:.25em;color:#1d3fae">${escapeHtml(code)}</p>`;
}

/** A button, and its address in small print for whoever cannot press it. */
function button({ label, url }: { label: string; url: string }): string {
  const address = escapeHtml(url);
  return `<table role="presentation" cellpadding="0" cellspacing="0" style="margin:24px 0"><tr><td style="border-radius:8px;background:#1d3fae">
<a href="${address}" style="display:inline-block;padding:12px 20px;color:#ffffff;text-decoration:none;font-weight:600">${escapeHtml(label)}</a>
</td></tr></table>
<p class="small" style="margin:0 0 16px;word-break:break-all;${small}">${address}</p>`;
}

/** Its frame is a table and its styles stand at the elements, as old mail programs want it; new ones show it dark as well. */
function page(subject: string, body: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">
<title>${escapeHtml(subject)}</title>
<style>:root{color-scheme:light dark}
@media (prefers-color-scheme:dark){.page{background:#0f141d!important}.card{background:#1a2130!important;border-color:#2c3649!important;color:#e8ecf4!important}.small{color:#a3adbf!important}.line{border-color:#2c3649!important}.strong{color:#9db4ff!important}}
</style></head>
<body class="page" style="margin:0;background:#f4f6fa">
<table class="page" role="presentation" width="100%" cellpadding="0" cellspacing="0" style="background:#f4f6fa"><tr><td align="center" style="padding:32px 16px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px"><tr>
<td class="card" align="left" style="padding:32px;background:#ffffff;border:1px solid #e3e7ef;border-radius:12px;font:16px/1.5 ${font};color:#172033">
${body}
</td></tr></table>
</td></tr></table></body></html>
`;
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character]!);
}
