import {
  Client,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type OAuthTokens,
  type StoredOAuthClientInformation,
} from '@modelcontextprotocol/client';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createCaller, type Actor } from '../support/actor.ts';
import { defaultScopes, grantTo, refresh } from '../support/oauth.ts';
import { startService } from '../support/service.ts';
import { connectAgent } from './agent.ts';

/* /mcp for agents without an API key: the official client finds out by itself how to get access. */

const service = await startService({ isPublicHere: true });
const admin = await service.registerCompany();

/** A program that keeps what it is given, and shows a person the page that it is told to. */
function createProgram() {
  let information: StoredOAuthClientInformation | undefined;
  let tokens: OAuthTokens | undefined;
  let verifier = '';
  let page: URL | undefined;
  let discovered: OAuthDiscoveryState | undefined;
  const provider: OAuthClientProvider = {
    redirectUrl: 'http://127.0.0.1:8765/done',
    clientMetadata: { client_name: 'Planner', redirect_uris: ['http://127.0.0.1:8765/done'] },
    clientInformation: () => information,
    saveClientInformation: (its) => void (information = its),
    tokens: () => tokens,
    saveTokens: (its) => void (tokens = its),
    redirectToAuthorization: (url) => void (page = url),
    saveCodeVerifier: (its) => void (verifier = its),
    codeVerifier: () => verifier,
    saveDiscoveryState: (its) => void (discovered = its),
    discoveryState: () => discovered,
  };
  return { provider, page: () => page!, tokens: () => tokens! };
}

const transportOf = (provider: OAuthClientProvider) =>
  new StreamableHTTPClientTransport(new URL('/mcp', service.url), { authProvider: provider });

/** What the page does when a person consents; answers where they are sent. */
async function consentAt(page: URL, actor: Actor, scopes: string[]): Promise<URL> {
  expect((await fetch(page)).status).toBe(200);
  const asked = (name: string) => page.searchParams.get(name);
  const { status, body } = await actor.post('/api/oauth/authorizations/', {
    client_id: asked('client_id'),
    redirect_uri: asked('redirect_uri'),
    code_challenge: asked('code_challenge'),
    code_challenge_method: asked('code_challenge_method'),
    state: asked('state'),
    scopes,
  });
  expect([status, body]).toEqual([200, { redirect_to: expect.any(String) }]);
  return new URL(body.redirect_to);
}

describe('an agent without a key', () => {
  test('gets access by the consent of a person, and keeps it', async () => {
    const program = createProgram();
    const first = transportOf(program.provider);
    const client = new Client({ name: 'test', version: '1' });
    await expect(client.connect(first)).rejects.toThrow(UnauthorizedError);
    expect(program.page().searchParams.get('resource')).toBe(`${service.url}/mcp`);
    const back = await consentAt(program.page(), admin, ['tasks:read', 'projects:read']);
    await first.finishAuth(back.searchParams);

    const connected = new Client({ name: 'test', version: '1' });
    await connected.connect(transportOf(program.provider));
    onTestFinished(() => connected.close());
    const { tools } = await connected.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['who_am_i', 'list_tasks', 'get_task', 'list_projects']);
    const whoAmI = async () => {
      const { content } = await connected.callTool({ name: 'who_am_i' });
      return JSON.parse((content as { text: string }[])[0]!.text);
    };
    expect(await whoAmI()).toMatchObject({
      employee: { id: admin.employeeId },
      key: { scopes: ['tasks:read', 'projects:read'], client: { name: 'Planner' } },
    });

    // Its token ends, and the client renews it by itself.
    const { access_token: before } = program.tokens();
    service.clock.advance({ minutes: 16 });
    expect((await whoAmI()).employee.id).toBe(admin.employeeId);
    expect(program.tokens().access_token).not.toBe(before);
  });

  test('is led to where it can ask', async () => {
    const ask = (authorization?: string) =>
      fetch(`${service.url}/mcp`, { method: 'POST', ...(authorization && { headers: { authorization } }) });
    const metadata = `${service.url}/.well-known/oauth-protected-resource/mcp`;
    const none = await ask();
    expect([none.status, none.headers.get('www-authenticate')]).toEqual([
      401,
      `Bearer resource_metadata="${metadata}"`,
    ]);
    const wrong = await ask('Bearer wmso_wrong');
    expect(wrong.headers.get('www-authenticate')).toBe(`Bearer error="invalid_token", resource_metadata="${metadata}"`);
    expect(await (await fetch(metadata)).json()).toMatchObject({ resource: `${service.url}/mcp` });
  });
});

describe('a token of an agent', () => {
  test('has no more than what was granted, at /mcp and nowhere else', async () => {
    const { access_token: token } = await grantTo(service, admin, defaultScopes);
    const agent = await connectAgent(service, token);
    expect((await agent.call('list_projects')).result.error).toMatchObject({
      code: 'SCOPE_REQUIRED',
      missing_scopes: ['projects:read'],
    });
    expect((await agent.call('timer', { action: 'show' })).isError).toBe(false);
    const headers = { authorization: `Bearer ${token}` };
    const rest = await createCaller(service.url).get(`/api/tasklogs/timer/${admin.employeeId}/`, { headers });
    expect([rest.status, rest.body.code]).toEqual([401, 'INVALID_TOKEN']);
    const trpc = await fetch(`${service.url}/trpc/apiKeys.getCurrent`, { headers });
    expect(trpc.status).toBe(401);
  });

  test('ends with its grant: by the person, an expiry, a leaver', async () => {
    const leaver = await service.addEmployee(admin);
    const grants = [await grantTo(service, leaver), await grantTo(service, leaver)];
    const agents = await Promise.all(grants.map(({ access_token: token }) => connectAgent(service, token)));
    const { body } = await leaver.get('/api/api-keys/');
    await leaver.delete(`/api/api-keys/${body.keys[1]._id}/`);
    await expect(agents[0]!.call('who_am_i')).rejects.toThrow('401');
    expect((await agents[1]!.call('who_am_i')).isError).toBe(false);
    await admin.delete(`/api/employees/${leaver.employeeId}/`);
    await expect(agents[1]!.call('who_am_i')).rejects.toThrow('401');
    expect((await refresh(service, grants[1]!)).body.error).toBe('invalid_grant');
  });
});
