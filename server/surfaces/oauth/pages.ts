import { isDocumentUrl, type Client } from '../../features/oauth/clients.ts';
import { areas, type Scope } from '../../platform/scopes.ts';

/*
 * The pages of /oauth/authorize as HTML. Everything that they load is beside them, with relative addresses, behind any proxy.
 */

type Consent = {
  client: Client;
  redirectUri: string;
  scopes: readonly Scope[];
  /** Where a person who refuses is sent. */
  deny: string;
  /** What the script sends with the scopes that were chosen. */
  authorization: Record<string, string | null>;
};

const wideWords: Partial<Record<Scope, string>> = {
  read: 'See everything that you see, with your admin rights',
  write: 'Change everything that you may change, with your admin rights',
  admin: 'Use your admin rights in the areas above',
};

export function consentPage({ client, redirectUri, scopes, deny, authorization }: Consent): string {
  const data = escape(JSON.stringify({ deny, authorization }));
  const name = `<strong class="client">${escape(client.name)}</strong>`;
  return page(
    'Let a program act as you',
    `<main class="card" data-request="${data}">
<h1 tabindex="-1">Let a program act as you?</h1>
<p>A program that calls itself ${name} asks to act as you in Work Management Service.</p>
<dl>
${isDocumentUrl(client.clientId) ? `<dt>It is described at</dt><dd>${escape(new URL(client.clientId).host)}</dd>` : ''}
<dt>It sends you back to</dt><dd>${escape(placeOf(redirectUri))}</dd>
</dl>
<p class="soft">Nobody has checked who made it. Go on only if you have just connected it yourself.</p>
<p id="problem" class="problem" role="alert" hidden></p>
<noscript><p class="problem">This page needs JavaScript.</p></noscript>

<form id="sign-in" hidden>
<h2 tabindex="-1">Sign in</h2>
<label for="email">E-mail address</label>
<input id="email" name="email" type="email" autocomplete="username" required>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password">
<div class="actions">
<button type="submit">Sign in</button>
<button type="button" class="plain" id="send-code">Send me a code instead</button>
</div>
</form>

<form id="enter-code" hidden>
<h2 tabindex="-1">Enter the code</h2>
<p>If there is an account with <span id="code-email"></span>, a code of six digits is on its way there.</p>
<label for="otp">Code</label>
<input id="otp" name="otp" inputmode="numeric" autocomplete="one-time-code" pattern="\\d{6}" maxlength="6" required>
<div class="actions">
<button type="submit">Sign in</button>
<button type="button" class="plain" id="use-password">Use a password</button>
</div>
</form>

<form id="choose-company" hidden>
<h2 tabindex="-1">Choose a company</h2>
<fieldset><legend>It acts in one of your companies</legend><div id="companies"></div></fieldset>
<div class="actions"><button type="submit">Go on</button></div>
</form>

<form id="consent" hidden>
<h2 tabindex="-1">What may it do?</h2>
<p>You are <strong id="person"></strong> in <strong id="company"></strong>. It never gets beyond what you may do yourself.</p>
${choices(scopes)}
<div class="actions"><button type="submit">Allow</button></div>
<p class="soft">You are told by mail. You can end it at any time: it is listed with your API keys.</p>
</form>

<p id="done" hidden>You are sent back to the program. If nothing happens, close this page.</p>
<div class="actions last"><button type="button" class="plain" id="deny">Refuse and go back</button></div>
</main>
<script src="assets/consent.js"></script>`,
  );
}

/** A box for each scope that is asked for, by area. */
function choices(scopes: readonly Scope[]): string {
  const box = (scope: Scope, words: string) =>
    scopes.includes(scope)
      ? `<label class="choice"><input type="checkbox" name="scope" value="${scope}" checked> ${words}</label>`
      : '';
  const asked = areas.filter((area) => scopes.some((scope) => scope.startsWith(`${area}:`)));
  const groups = asked.map(
    (area) =>
      `<fieldset class="area"><legend>${capitalized(area)}</legend>${box(`${area}:read`, 'see')}${box(`${area}:write`, 'change')}</fieldset>`,
  );
  const wide = Object.entries(wideWords).map(([scope, words]) => box(scope as Scope, words));
  return [...groups, ...wide.filter((one) => one !== '').map((one) => `<div class="wide">${one}</div>`)].join('\n');
}

const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** The host, or the scheme of a program. */
function placeOf(uri: string): string {
  const { protocol, host, hostname } = new URL(uri);
  if (protocol === 'http:') return `this computer (${host})`;
  return protocol === 'https:' ? hostname : `the program of ${protocol}`;
}

/** What is shown instead of going back to a program that may be somebody else's. */
export function refusalPage(sentence: string): string {
  return page(
    'This does not work',
    `<main class="card"><h1>This does not work</h1>
<p>A program has sent you here with a request that cannot be answered, so you are not sent back to it.</p>
<p class="problem">${escape(sentence)}</p></main>`,
  );
}

const page = (title: string, body: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title} · Work Management Service</title>
<link rel="icon" type="image/svg+xml" href="assets/mark.svg">
<link rel="stylesheet" href="assets/page.css">
<link rel="stylesheet" href="assets/consent.css">
</head>
<body>
<header class="top"><nav aria-label="Service"><span class="home"><img class="mark" src="assets/mark.svg" alt="">Work Management Service</span></nav></header>
${body}
</body>
</html>
`;

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
