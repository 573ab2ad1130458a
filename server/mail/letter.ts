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
  return {
    to,
    subject: oneLine(letter.subject),
    template: letter.template,
    text: asText(letter),
    html: asHtml(letter),
  };
}

/** A line break in a subject would start a header of its own. */
const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim().slice(0, 200);

function asText({ paragraphs, code, action, footnote }: Letter): string {
  const blocks = [...paragraphs, code, action && `${action.label}:\n${action.url}`, footnote];
  return `${blocks.filter((block) => block !== undefined).join('\n\n')}\n`;
}

function asHtml({ subject, paragraphs, code, action, footnote }: Letter): string {
  const body = [
    ...paragraphs.map(
      (paragraph) => `<p style="margin:0 0 16px">${escapeHtml(paragraph).replaceAll('\n', '<br>')}</p>`,
    ),
    code === undefined
      ? ''
      : `<p style="margin:24px 0;font:600 32px/1.2 ui-monospace,Menlo,Consolas,monospace;letter-spacing:.25em;color:#1d3fae">${escapeHtml(code)}</p>`,
    action === undefined
      ? ''
      : `<p style="margin:24px 0"><a href="${escapeHtml(action.url)}" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#1d3fae;color:#ffffff;text-decoration:none;font-weight:600">${escapeHtml(action.label)}</a></p>
<p style="margin:0 0 16px;font-size:13px;color:#5b6474;word-break:break-all">${escapeHtml(action.url)}</p>`,
    `<p style="margin:24px 0 0;padding-top:16px;border-top:1px solid #e3e7ef;font-size:13px;color:#5b6474">${escapeHtml(footnote)}</p>`,
  ].filter((block) => block !== '');
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(subject)}</title></head>
<body style="margin:0;background:#f4f6fa;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;color:#172033">
<div style="max-width:560px;margin:0 auto;padding:32px 16px"><div style="background:#ffffff;border:1px solid #e3e7ef;border-radius:12px;padding:32px">
${body.join('\n')}
</div></div></body></html>
`;
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character]!);
}
