import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { onTestFinished } from 'vitest';
import type { Actor } from '../support/actor.ts';
import type { Service } from '../support/service.ts';

/** What a tool answered. */
export type Answer = {
  isError: boolean;
  text: string;
  // oxlint-disable-next-line typescript/no-explicit-any
  result: any;
};

export type TestAgent = {
  client: Client;
  call(tool: string, args?: Record<string, unknown>): Promise<Answer>;
};

/** The versions of the protocol that agents speak: the present one, and those from before it, which begin with a handshake. */
export type Version = 'present' | 'before';

/** Connects as an agent does that has an API key: with the official client, which speaks the protocol by itself. */
export async function connectAgent(
  { url }: Pick<Service, 'url'>,
  key: string,
  version: Version = 'present',
): Promise<TestAgent> {
  const mode = version === 'present' ? { pin: '2026-07-28' } : 'legacy';
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const headers = { authorization: `Bearer ${key}` };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit: { headers } }));
  onTestFinished(() => client.close());
  return {
    client,
    async call(name, args = {}) {
      const { content, isError } = await client.callTool({ name, arguments: args });
      const [block] = content as { text: string }[];
      return { isError: isError === true, text: block!.text, result: JSON.parse(block!.text) };
    },
  };
}

/** An agent of somebody, with a key of these scopes. */
export async function agentOf(
  service: Service,
  actor: Actor,
  scopes: string[] = ['read', 'write'],
): Promise<TestAgent> {
  return connectAgent(service, await keyOf(actor, scopes));
}

export async function keyOf(actor: Actor, scopes: string[]): Promise<string> {
  const { status, body } = await actor.post('/api/api-keys/', { name: 'Agent', scopes });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.key;
}
