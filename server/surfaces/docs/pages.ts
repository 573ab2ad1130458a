import { errorsOf } from '../../kernel/declared.ts';
import { definedErrors, type ErrorDefinition, type ErrorKind } from '../../errors/api-error.ts';
import { VALIDATION_FAILED } from '../../errors/errors.ts';
import { issueCodes } from '../../errors/issues.ts';
import { exampleProblemOf } from '../openapi/components.ts';
import type { Operation } from '../../kernel/operations.ts';

/*
 * The pages under /docs as HTML. `root` is the relative path from a page to the root of the service, behind any proxy.
 */

/** What a caller should do about an error of this kind. */
const advice: Record<ErrorKind, string> = {
  BAD_REQUEST:
    'The request cannot succeed as it is. Correct what <code>detail</code> and <code>issues</code> name, then send it again; repeating it unchanged gets the same answer.',
  UNAUTHORIZED:
    'Send valid credentials. Exchange the refresh token at <code>POST /api/token/refresh/</code>; if that fails too, let the person sign in again.',
  FORBIDDEN:
    'The service knows who is calling, and this caller may not do it. Ask someone who may, or an admin of the company for the permission.',
  NOT_FOUND:
    'Check the path, its letter case and the identifiers in it. Things of another company, and deleted ones, are not found either.',
  METHOD_NOT_SUPPORTED: 'Use one of the methods in the <code>Allow</code> header.',
  TIMEOUT: 'Send the request again, on a faster connection.',
  CONFLICT:
    'The stored state conflicts with the request. Read the current state and decide again; if <code>Retry-After</code> is sent, the same request may succeed after that time.',
  PAYLOAD_TOO_LARGE: 'Send less: split the request, or make the picture or text smaller.',
  UNSUPPORTED_MEDIA_TYPE: 'Send the body as JSON with <code>Content-Type: application/json</code>.',
  PRECONDITION_FAILED: 'Send the request without <code>Expect</code>.',
  UNPROCESSABLE_CONTENT: 'Use a new key for a new request; reuse a key only for retries of the same request.',
  TOO_MANY_REQUESTS:
    'Wait as many seconds as <code>Retry-After</code> says. <code>RateLimit-Remaining</code> on earlier answers shows how close you are.',
  INTERNAL_SERVER_ERROR:
    'This is an error of the service, not of the request. Nothing was changed. Report the <code>requestId</code>; a later retry with the same <code>Idempotency-Key</code> is safe.',
  SERVICE_UNAVAILABLE:
    'Wait as many seconds as <code>Retry-After</code> says and send the request again, with the same <code>Idempotency-Key</code> for writes.',
};

type PageParts = {
  root: string;
  title: string;
  body: string;
  head?: string;
  /** The page in the navigation to which this page belongs. */
  current?: string;
};

export function page({ root, title, body, head = '', current }: PageParts): string {
  const links = [
    ['docs', 'Reference'],
    ['docs/guides', 'Guides'],
    ['docs/errors', 'Errors'],
    ['openapi.json', 'OpenAPI'],
    ['asyncapi.json', 'AsyncAPI'],
  ].map(([path, name]) => `<a href="${root}${path}"${path === current ? ' aria-current="page"' : ''}>${name}</a>`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escape(title)} · Work Management Service</title>
<link rel="icon" type="image/svg+xml" href="${root}docs/assets/mark.svg">
<link rel="stylesheet" href="${root}docs/assets/page.css">
${head}
</head>
<body>
<header class="top"><nav aria-label="Pages">
<a class="home" href="${root}docs"><img class="mark" src="${root}docs/assets/mark.svg" alt="">Work Management Service</a>
${links.join('\n')}
</nav></header>
${body}
</body>
</html>
`;
}

export function errorListPage(root: string): string {
  const rows = definedErrors()
    .toSorted((a, b) => a.status - b.status)
    .map(
      ({ code, status, sentence }) =>
        `<tr><td>${status}</td><td><a href="${root}docs/errors/${code}">${codeWords(code)}</a></td><td>${prose(sentence)}</td></tr>`,
    );
  return page({
    root,
    title: 'Errors',
    current: 'docs/errors',
    body: `<main class="text errors">
<h1>Errors</h1>
<p class="lead">Every error is a problem document with one of these codes. Codes never change their meaning.</p>
<table><thead><tr><th>Status</th><th>Code</th><th>Meaning</th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table>
</main>`,
  });
}

/** The page of one code; undefined for an unknown code. */
export function errorPage(code: string, operations: Operation[], root: string): string | undefined {
  const definition = definedErrors().find((one) => one.code === code);
  if (!definition) return undefined;
  return page({
    root,
    title: code,
    current: 'docs/errors',
    body: `<main class="text errors">
<p><a href="${root}docs/errors">All errors</a></p>
<h1>${codeWords(code)}</h1>
<p><span class="status">HTTP ${definition.status}</span></p>
<h2>What it means</h2>
<p class="lead">${prose(definition.sentence)}</p>
<h2>What to do</h2>
<p>${advice[definition.kind]}</p>
${issueTable(definition)}<h2>How it looks</h2>
<pre>${escape(JSON.stringify(exampleProblemOf(definition), null, 2))}</pre>
<h2>Where it comes from</h2>
${origins(definition, operations, root)}
</main>`,
  });
}

/** The table of issue codes. */
function issueTable(definition: ErrorDefinition): string {
  if (definition !== VALIDATION_FAILED) return '';
  const rows = Object.entries(issueCodes).map(
    ([code, meaning]) => `<tr><td><code>${code}</code></td><td>${escape(meaning)}</td></tr>`,
  );
  return `<h2>What an issue says</h2>
<p>Each issue names a place in the input by its <code>path</code> and says by its <code>code</code> what is wrong there:</p>
<table><thead><tr><th>Code</th><th>Meaning</th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table>
`;
}

function origins(definition: ErrorDefinition, operations: Operation[], root: string): string {
  const from = operations.filter(({ meta }) => errorsOf(meta).includes(definition));
  if (from.length === 0) return '<p>From the service itself, before an operation is reached.</p>';
  if (from.length === operations.length) return '<p>From any operation.</p>';
  const items = from.map(({ name, method, path, meta }) => {
    const anchor = `${encodeURIComponent(meta.section ?? '')}/${encodeURIComponent(name)}`;
    return `<li><a href="${root}docs#/${anchor}"><code>${method} ${escape(path)}</code></a> ${escape(meta.openapi?.summary ?? '')}</li>`;
  });
  return `<ul>${items.join('\n')}</ul>`;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** A code that may wrap after an underscore only. */
const codeWords = (code: string): string => `<code>${escape(code).replaceAll('_', '_<wbr>')}</code>`;

/** A sentence with its `code` as HTML. */
function prose(sentence: string): string {
  return escape(sentence).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}
