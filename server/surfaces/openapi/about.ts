import { fromMail, preparation } from './samples.ts';

/* The introduction of the reference. */

/** The sections of the interface, in its order. */
export const tags: { name: string; description: string }[] = [
  { name: 'Company registration', description: 'A company and its first admin, by a code sent to their address.' },
  { name: 'Login', description: 'By password, one-time code, Google or Apple, or with a credential.' },
  { name: 'Password management', description: 'Resetting a forgotten password and changing a known one.' },
  { name: 'Employees', description: 'Records, profiles, permissions, search and performance figures.' },
  { name: 'Company', description: 'The company, its subscription and plans, and statistics of its work.' },
  { name: 'Task logs', description: 'Time spent on tasks, entered one by one or many at once.' },
  { name: 'Task comments', description: 'Threaded comments on tasks, with mentions, replies and likes.' },
  { name: 'Notifications', description: 'What concerns a person: read, filter, mark, delete, count.' },
  {
    name: 'Additions',
    description: 'What the documented interface lacks: projects, tasks, sessions, API keys and the like.',
  },
];

/** Licence and contact: the service belongs to its operator. */
export const legal = (baseUrl: string) => ({
  license: { name: 'Proprietary, all rights reserved', identifier: 'LicenseRef-Proprietary' },
  contact: { name: 'The operator of this service', url: `${baseUrl}/docs` },
});

export const about = (baseUrl: string): string => `Project management, team collaboration and time tracking.

## Signing in
A login answers with a pair of tokens. Send both with every request:
\`Authorization: Bearer <ACCESS_TOKEN>\` and \`X-Refresh-Token: <REFRESH_TOKEN>\`.
If the access token has expired and the refresh token is valid, the request is served and its answer carries a fresh
access token in \`X-Access-Token\`. Scripts send an API key as \`Authorization: Bearer <API_KEY>\` alone; each operation says which scopes the key needs.
Open operations say so.

## Requests
* Every operation answers **200** on success, creates and deletes included.
* Bodies are JSON in UTF-8, at most 1 MiB unless an operation says otherwise. If no body is listed, send none or \`{}\`.
* Body fields that an operation does not list are ignored. A body that nests deeper than 64 levels is an error.
* Paths are exact in letter case. The slash at their end may be left out.
* Identifiers are positive integers, at most 2^53-1.
* Timestamps are ISO 8601 with any offset; answers give UTC with milliseconds and \`Z\`. Dates are \`YYYY-MM-DD\`.
* White space around names, titles and descriptions is dropped, and no text has a NUL character. Names of people, companies and keys have no control character and no web
  address, because they are in mails to others.
* Every field of a record is always present; unknown values are \`null\`.

## Errors
Every error is a problem document (RFC 9457, \`application/problem+json\`) with a stable \`code\`, a sentence in
\`detail\`, the \`requestId\`, for invalid input \`issues: [{path, message, code}]\`, and for an API key that lacks a scope \`missingScopes\`.
[Each code has a page](/docs/errors).
* Things of another company look as if they did not exist: **404** for a path, and a **400** whose issue has the code \`not_found\`
  for an identifier in a body or query.
* A wrong method gets **405** with \`Allow\`, a wrong media type **415**, a body that is too large **413**.
* **429** and **503** carry \`Retry-After\` in seconds.

## Retries
Send an \`Idempotency-Key\` with a write and repeat the request as often as you like: the same key with the same body
within 24 hours gets the first answer again (marked \`Idempotency-Replayed: true\`) and has no second effect. Another
body is an error (**422**), and so is a retry while the first is still running (**409**). A key belongs to the session
or API key that sends it, and to one operation; bodies are compared as JSON, so the order of their fields does not matter. Operations whose
answers are secrets (sign-ins, codes, resets, new API keys and secrets of webhooks) store none: they do not list the header and ignore it.

## Limits
Each operation may be called 600 times a minute with one session or key, 2,400 times by one employee and 36,000 times by one
company, unless the operator has set other numbers. \`RateLimit-Limit\`, \`RateLimit-Remaining\` and \`RateLimit-Reset\` tell of the one of which least remains.

## Request ids
Send \`X-Request-Id\` to set the id of a request: 1 to 128 letters, digits and \`.\`, \`_\`, \`:\`, \`-\`; another one is replaced.
It is on the answer and on every log line.

## Clients
TypeScript and JavaScript have a typed client, which this service serves: \`npm install\` with the address of
[\`/client.tgz\`](/client.tgz). For other languages a client is generated from [\`/openapi.json\`](/openapi.json).

## Running the examples
Each operation shows a command that runs unchanged in a shell (bash) with curl and node, after these variables are set.
Run it in the service's folder, where the demo sign-in is, or set \`email\` and \`password\` to your own.

\`\`\`sh
${preparation(baseUrl)}
\`\`\`

Values from mails are read from the mail file, which replaces mail if no provider is configured; a \`google_token\` or
\`apple_token\` comes from those providers.

\`\`\`sh
${fromMail}
\`\`\``;
