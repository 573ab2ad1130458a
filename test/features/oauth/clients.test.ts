import type { RequestListener } from 'node:http';
import { describe, expect, test } from 'vitest';
import { errorOf } from '../../support/actor.ts';
import { callerWithKey } from '../../support/api-key.ts';
import {
  authorizeQuery,
  consent,
  isAccepted,
  newVerifier,
  postForm,
  redirectUri,
  registerClient,
} from '../../support/oauth.ts';
import { plant } from '../../support/planted.ts';
import { startService } from '../../support/service.ts';
import { challenge } from '../../../server/surfaces/oauth/challenge.ts';

/* How clients find their way, become known, and ask for access; and what is refused before anybody consents. */

const service = await startService({ settings: { clientDocumentNetworks: ['127.0.0.1'] } });
const { anonymous } = service;
const admin = await service.registerCompany();
const employee = await service.addEmployee(admin);
const areas = ['time', 'tasks', 'projects', 'comments', 'notifications', 'people', 'company'];
const allAreas = areas.flatMap((area) => [`${area}:read`, `${area}:write`]);

describe('the metadata', () => {
  test('leads from a challenge to the resource, and from there to the endpoints', async () => {
    const settings = { publicUrl: 'https://api.example.test' };
    const metadata = 'https://api.example.test/.well-known/oauth-protected-resource/mcp';
    expect(challenge(settings, { hasToken: false })).toBe(`Bearer resource_metadata="${metadata}"`);
    expect(challenge({ publicUrl: 'https://example.test/work' }, { hasToken: true })).toBe(
      'Bearer error="invalid_token", resource_metadata="https://example.test/.well-known/oauth-protected-resource/work/mcp"',
    );
    for (const path of ['', '/mcp']) {
      const { body } = await anonymous.get(`/.well-known/oauth-protected-resource${path}`);
      expect(body).toMatchObject({
        resource: 'https://api.example.test/mcp',
        authorization_servers: ['https://api.example.test'],
        scopes_supported: allAreas,
      });
    }
    const { body } = await anonymous.get('/.well-known/oauth-authorization-server');
    expect(body).toMatchObject({
      issuer: 'https://api.example.test',
      authorization_endpoint: 'https://api.example.test/oauth/authorize',
      token_endpoint: 'https://api.example.test/oauth/token',
      registration_endpoint: 'https://api.example.test/oauth/register',
      revocation_endpoint: 'https://api.example.test/oauth/revoke',
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
    });
  });

  test('is found with the path of the public address as well', async () => {
    const prefixed = await startService({ settings: { publicUrl: 'https://example.test/work' } });
    const issuer = await prefixed.anonymous.get('/.well-known/oauth-authorization-server/work');
    expect(issuer.body.issuer).toBe('https://example.test/work');
    const resource = await prefixed.anonymous.get('/.well-known/oauth-protected-resource/work/mcp');
    expect(resource.body.resource).toBe('https://example.test/work/mcp');
  });

  test('and the endpoints may be called by pages of any origin; the page of consent may not', async () => {
    const headers = { origin: 'https://client.example', 'access-control-request-method': 'POST' };
    const readers = ['/.well-known/oauth-protected-resource/mcp', '/.well-known/oauth-authorization-server'];
    for (const path of [...readers, '/oauth/token', '/oauth/register', '/oauth/revoke']) {
      const preflight = await anonymous.send('OPTIONS', path, undefined, { headers });
      expect([path, preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([path, 204, '*']);
      expect(preflight.headers.get('access-control-allow-headers')).toContain('Content-Type');
      expect(preflight.headers.get('access-control-allow-methods')).toContain(readers.includes(path) ? 'GET' : 'POST');
      const other = await anonymous.send(readers.includes(path) ? 'DELETE' : 'GET', path, undefined, { headers });
      expect(errorOf(other)).toEqual({ status: 405, code: 'METHOD_NOT_ALLOWED' });
    }
    const refused = await postForm(service, '/oauth/token', {});
    expect(refused.headers.get('access-control-allow-origin')).toBe('*');
    const page = await anonymous.get(authorizeQuery('wmsc_nobody'), { headers });
    expect(page.headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('a registration', () => {
  const register = (metadata: unknown) => anonymous.post('/oauth/register', metadata);

  test('answers what the client is, and ignores what it would rather be', async () => {
    const { status, body } = await register({
      client_name: 'Planner',
      redirect_uris: [redirectUri],
      token_endpoint_auth_method: 'client_secret_basic',
      grant_types: ['implicit'],
      logo_uri: 'https://client.example/logo.png',
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      client_id: expect.stringMatching(/^wmsc_[\w-]{22}$/),
      client_id_issued_at: expect.any(Number),
      client_name: 'Planner',
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    });
  });

  test.each([
    'https://client.example/callback?a=b',
    'http://127.0.0.1/callback',
    'http://localhost:4711/callback',
    'http://[::1]:4711/callback',
    'com.example.planner:/done',
  ])('takes the redirect URI %s', async (uri) => {
    expect((await register({ redirect_uris: [uri] })).status).toBe(201);
  });

  test.each([
    'http://client.example/callback',
    'http://127.0.0.1.client.example/callback',
    'http://127.0.0.1:80@client.example/callback',
    'http://localhost@client.example/callback',
    'https://user@client.example/callback',
    'https://client.example/callback#here',
    'https:client.example',
    String.raw`https:\\client.example`,
    'https://client.example/a b',
    ' https://client.example/',
    'planner:/done',
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    '/callback',
    '*',
    '',
    `https://client.example/${'a'.repeat(2_000)}`,
  ])('refuses the redirect URI %s', async (uri) => {
    const { status, body } = await register({ redirect_uris: [redirectUri, uri] });
    expect([status, body.error]).toEqual([400, 'invalid_redirect_uri']);
  });

  test.each([
    [[], 'invalid_client_metadata'],
    [{}, 'invalid_redirect_uri'],
    [{ redirect_uris: [] }, 'invalid_redirect_uri'],
    [{ redirect_uris: Array.from({ length: 21 }, () => redirectUri) }, 'invalid_redirect_uri'],
    [{ redirect_uris: [redirectUri], client_name: 'Go to https://evil.example' }, 'invalid_client_metadata'],
    [{ redirect_uris: [redirectUri], client_name: 'Pla\u202enner' }, 'invalid_client_metadata'],
    [{ redirect_uris: [redirectUri], client_name: 'a'.repeat(101) }, 'invalid_client_metadata'],
    [{ redirect_uris: [redirectUri], client_name: 'Planner\0' }, 'invalid_client_metadata'],
    [{ redirect_uris: [redirectUri], client_name: 'Planner\ud800' }, 'invalid_client_metadata'],
    [{ redirect_uris: [`${redirectUri}\0`] }, 'invalid_redirect_uri'],
    ['{', 'invalid_request'],
  ])('refuses %j', async (metadata, error) => {
    const { status, body } = await register(metadata);
    expect([status, body.error]).toEqual([400, error]);
  });

  test('is limited for each network, and says when to come again', async () => {
    const limited = await startService({ requestsPerMinute: 600 });
    for (let one = 0; one < 60; one += 1) await registerClient(limited);
    const { status, headers, body } = await limited.anonymous.post('/oauth/register', { redirect_uris: [redirectUri] });
    expect([status, body.error]).toEqual([429, 'temporarily_unavailable']);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  });
});

describe('a request for access', () => {
  /** Where the page sends a person at once, as a map. */
  async function sentBack(query: string): Promise<Record<string, string>> {
    const { status, headers } = await anonymous.get(query);
    expect(status).toBe(302);
    const to = new URL(headers.get('location')!);
    expect(to.href.startsWith(`${redirectUri}?`)).toBe(true);
    return Object.fromEntries(to.searchParams);
  }

  test.each([
    [{ client_id: undefined }, 'client_id is missing'],
    [{ client_id: 'wmsc_nobody' }, 'not known'],
    [{ client_id: 'a\0b' }, 'not known'],
    [{ client_id: '\0' }, 'is not known'],
    [{ redirect_uri: undefined }, 'redirect_uri is missing'],
    [{ redirect_uri: `${redirectUri}\0` }, 'none that the program has registered'],
    [{ redirect_uri: 'https://client.example/callback/' }, 'none that the program has registered'],
    [{ redirect_uri: 'https://CLIENT.example/callback' }, 'none that the program has registered'],
    [{ redirect_uri: 'https://evil.example/callback' }, 'none that the program has registered'],
    [{ redirect_uri: 'javascript:alert(1)' }, 'none that the program has registered'],
  ])('with %j is told on a page, and sends nobody anywhere', async (wrong, sentence) => {
    const { status, headers, body } = await anonymous.get(authorizeQuery(await registerClient(service), wrong));
    expect([status, headers.get('location')]).toEqual([400, null]);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(body).toContain(sentence);
    expect(body).not.toContain('evil');
  });

  test('with a parameter twice is told on a page', async () => {
    const query = authorizeQuery(await registerClient(service));
    expect((await anonymous.get(`${query}&redirect_uri=https://evil.example`)).status).toBe(400);
  });

  test.each([
    [{ response_type: 'token' }, 'unsupported_response_type'],
    [{ response_type: undefined }, 'invalid_request'],
    [{ code_challenge: undefined }, 'invalid_request'],
    [{ code_challenge: 'short' }, 'invalid_request'],
    [{ code_challenge_method: 'plain' }, 'invalid_request'],
    [{ code_challenge_method: undefined }, 'invalid_request'],
    [{ resource: undefined }, 'invalid_target'],
    [{ resource: 'https://api.example.test' }, 'invalid_target'],
    [{ resource: 'https://other.example/mcp' }, 'invalid_target'],
    [{ scope: 'time:read everything' }, 'invalid_scope'],
    [{ scope: 'login' }, 'invalid_scope'],
  ])('with %j sends back an error, the state and the issuer', async (wrong, error) => {
    expect(await sentBack(authorizeQuery(await registerClient(service), wrong))).toEqual({
      error,
      error_description: expect.any(String),
      state: 'a state',
      iss: 'https://api.example.test',
    });
  });

  test('goes to a loopback address with any port, and with no other path', async () => {
    const clientId = await registerClient(service, { redirect_uris: ['http://127.0.0.1:1/done', 'http://[::1]/done'] });
    const status = async (redirect_uri: string) =>
      (await anonymous.get(authorizeQuery(clientId, { redirect_uri }))).status;
    expect(await status('http://127.0.0.1:54321/done')).toBe(200);
    expect(await status('http://127.0.0.1/done')).toBe(200);
    expect(await status('http://[::1]:54321/done')).toBe(200);
    expect(await status('http://localhost:54321/done')).toBe(400);
    expect(await status('http://127.0.0.1:54321/other')).toBe(400);
    expect(await status('http://127.0.0.1:54321@evil.example/done')).toBe(400);
    expect(await status('https://127.0.0.1:54321/done')).toBe(400);
  });

  test('shows what it is about, on a page that is in no frame and in no cache', async () => {
    const name = 'Pl<b>ann</b>er & "Co"';
    const clientId = await registerClient(service, { client_name: name });
    const { status, headers, body } = await anonymous.get(authorizeQuery(clientId, { scope: 'time:read admin' }));
    expect(status).toBe(200);
    expect(body).toContain('Pl&lt;b&gt;ann&lt;/b&gt;er &amp; &quot;Co&quot;');
    expect(body).toContain('client.example');
    expect([...body.matchAll(/name="scope" value="([^"]+)"/g)].map(([, scope]) => scope)).toEqual([
      'time:read',
      'admin',
    ]);
    const policy = headers.get('content-security-policy')!.split(';');
    expect(policy).toEqual(
      expect.arrayContaining(["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"]),
    );
    expect(policy.join()).not.toContain('unsafe');
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('set-cookie')).toBeNull();
  });

  test('that names no scope asks for all areas, and for nothing that holds them all', async () => {
    const { body } = await anonymous.get(authorizeQuery(await registerClient(service)));
    expect([...body.matchAll(/name="scope" value="([^"]+)"/g)].map(([, scope]) => scope)).toEqual(allAreas);
  });

  test('leaves nothing of its query in the log', async () => {
    const state = 'a-state-that-is-nobodys-business';
    await anonymous.get(authorizeQuery(await registerClient(service), { state }));
    expect(service.log()).toContain('/oauth/authorize');
    expect(service.log()).not.toContain(state);
  });
});

describe('a consent', () => {
  const body = (client_id: string, more: object = {}) => ({
    client_id,
    redirect_uri: redirectUri,
    code_challenge: newVerifier().code_challenge,
    code_challenge_method: 'S256',
    scopes: ['time:read'],
    state: 'a state',
    ...more,
  });
  const path = '/api/oauth/authorizations/';

  test('sends back a code, the state and the issuer, behind what the redirect URI has', async () => {
    const redirect_uri = `${redirectUri}?a=b`;
    const clientId = await registerClient(service, { redirect_uris: [redirect_uri] });
    const answer = await employee.post(path, body(clientId, { redirect_uri, state: 'a=b&c' }));
    const to = new URL(answer.body.redirect_to);
    expect(Object.fromEntries(to.searchParams)).toEqual({
      a: 'b',
      code: expect.stringMatching(/^wmsa_[\w-]{43}$/),
      state: 'a=b&c',
      iss: 'https://api.example.test',
    });
  });

  test('is given in a session of one’s own', async () => {
    const clientId = await registerClient(service);
    const { body: key } = await admin.post('/api/api-keys/', { name: 'Script', scopes: ['read', 'write', 'login'] });
    const script = callerWithKey(service.url, key.key);
    expect(errorOf(await script.post(path, body(clientId)))).toEqual({ status: 403, code: 'SESSION_REQUIRED' });
    const pair = (await script.post('/token-login/', { email: employee.email, company_id: admin.companyId })).body;
    expect(errorOf(await service.as(pair).post(path, body(clientId)))).toEqual({ status: 403, code: 'SESSION_BOUND' });
    expect(errorOf(await anonymous.post(path, body(clientId)))).toEqual({ status: 401, code: 'UNAUTHENTICATED' });
  });

  test('gives no more than the person could give a key', async () => {
    const clientId = await registerClient(service);
    const scopes = ['time:read', 'admin'];
    expect(errorOf(await employee.post(path, body(clientId, { scopes })))).toEqual({
      status: 403,
      code: 'ADMIN_REQUIRED',
    });
    const exchanged = await postForm(service, '/oauth/token', await consent(admin, clientId, { scopes }));
    expect(exchanged.body.scope).toBe('time:read admin');
    expect(await isAccepted(service, exchanged.body.access_token)).toBe(true);
  });

  test.each([
    [{ client_id: 'wmsc_nobody' }, 'client_id'],
    [{ redirect_uri: 'https://evil.example/' }, 'redirect_uri'],
    [{ code_challenge: 'short' }, 'code_challenge'],
    [{ code_challenge_method: 'plain' }, 'code_challenge_method'],
    [{ scopes: [] }, 'scopes'],
    [{ scopes: ['login'] }, 'scopes'],
    [{ state: ' '.repeat(2_001) }, 'state'],
  ])('with %j is refused by the name of the field, and changes nothing', async (wrong, field) => {
    const count = async () => (await service.database.db.selectFrom('api_keys').select('name').execute()).length;
    const before = await count();
    const answer = await admin.post(path, { ...body(await registerClient(service)), ...wrong });
    expect(errorOf(answer)).toEqual({ status: 400, code: 'VALIDATION_FAILED', issues: [field] });
    expect(await count()).toBe(before);
  });
});

describe('a client with a document', () => {
  /** Serves a document; returns its URL and how often it was fetched. */
  async function describeAt(answer: RequestListener) {
    const { url, requests } = await plant(answer);
    return { url: `${url}/client.json`, fetched: requests };
  }
  const said = (url: string, more: object = {}) =>
    JSON.stringify({ client_id: url, client_name: 'Described', redirect_uris: [redirectUri], ...more });
  const here = (host: string | undefined) => `http://${host}/client.json`;

  test('is known by it, and it is fetched once in an hour', async () => {
    const { url, fetched } = await describeAt((request, response) => response.end(said(here(request.headers.host))));
    const page = await anonymous.get(authorizeQuery(url));
    expect(page.status).toBe(200);
    expect(page.body).toContain('Described');
    expect(page.body).toContain(new URL(url).host);
    const { status, body } = await postForm(service, '/oauth/token', await consent(employee, url));
    expect(status).toBe(200);
    expect(await isAccepted(service, body.access_token)).toBe(true);
    await anonymous.get(authorizeQuery(url));
    expect(fetched()).toBe(1);
    service.clock.advance({ minutes: 51 });
    expect(await consent(employee, url)).toHaveProperty('code');
    const form = { grant_type: 'refresh_token', client_id: url, refresh_token: body.refresh_token };
    expect((await postForm(service, '/oauth/token', form)).status).toBe(200);
    expect(fetched()).toBe(1);
    expect((await anonymous.get(authorizeQuery(url))).status).toBe(200);
    expect(fetched()).toBe(2);
  });

  test.each<[string, RequestListener]>([
    ['names another client_id', (_, response) => response.end(said('https://other.example/client.json'))],
    [
      'asks for a client secret',
      ({ headers }, response) =>
        response.end(said(here(headers.host), { token_endpoint_auth_method: 'client_secret_post' })),
    ],
    ['is no JSON object', (_, response) => response.end('[]')],
    ['is no JSON object', (_, response) => response.end(Buffer.from([0xff, 0xfe]))],
    [
      'is longer than 16384 bytes',
      ({ headers }, response) => response.end(said(here(headers.host), { x: 'a'.repeat(16_384) })),
    ],
    ['status 404', (_, response) => response.writeHead(404).end('{}')],
    ['status 302', (_, response) => response.writeHead(302, { location: 'https://client.example/' }).end()],
    ['could not be fetched', (_, response) => response.destroy()],
    [
      'redirect_uris',
      ({ headers }, response) => response.end(said(here(headers.host), { redirect_uris: ['javascript:x'] })),
    ],
  ])('is refused if that %s', async (sentence, answer) => {
    const { url } = await describeAt(answer);
    const { status, body } = await anonymous.get(authorizeQuery(url));
    expect(status).toBe(400);
    expect(body).toContain(sentence);
  });

  test('is refused at an address that is not public, whatever webhooks may reach', async () => {
    const guarded = await startService({
      settings: { webhookNetworks: ['127.0.0.1'] },
      resolveName: async (name) => (name === 'inside.example' ? ['10.0.0.1'] : ['8.8.8.8']),
    });
    const { url, fetched } = await describeAt((_, response) => response.end('{}'));
    for (const clientId of [
      url,
      url.replace('http', 'https'),
      'https://inside.example/client.json',
      'https://169.254.169.254/latest/meta-data',
      'https://[::1]/client.json',
      'http://client.example/client.json',
    ]) {
      const { status, body } = await guarded.anonymous.get(authorizeQuery(clientId));
      expect({ clientId, status }).toEqual({ clientId, status: 400 });
      expect(body).toMatch(/must lead to public addresses only|must be an https URL/);
    }
    expect(fetched()).toBe(0);
  });

  test.each([
    'https://client.example',
    'https://client.example/',
    'https://client.example/a#b',
    'https://user@client.example/a',
    'https://client.example/a/../b',
    'https://CLIENT.example/a',
    'ftp://client.example/a',
  ])('is not named by %s', async (clientId) => {
    const { status, body } = await anonymous.get(authorizeQuery(clientId));
    expect(status).toBe(400);
    expect(body).toContain('not known');
  });
});
