import { setTimeout as sleep } from 'node:timers/promises';
import { Server, type CallToolResult } from '@modelcontextprotocol/server';

/*
 * What the conformance suite calls by name: each scenario says what its tool, prompt or resource has to answer. The service
 * has none of them; here they stand behind the same mount.
 */

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const silence = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=';

const text = (said: string) => ({ type: 'text' as const, text: said });
const image = { type: 'image' as const, data: pixel, mimeType: 'image/png' };
const resource = (uri: string, mimeType: string, content: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType, text: content },
});

type Call = {
  progressToken: string | number | undefined;
  log(data: string): Promise<void>;
  progress(done: number): Promise<void>;
};

const inThreeSteps = async (step: (index: number) => Promise<void>): Promise<void> => {
  for (let index = 0; index < 3; index += 1) {
    if (index > 0) await sleep(20);
    await step(index);
  }
};

const tools: Record<string, (call: Call) => Promise<CallToolResult>> = {
  test_simple_text: async () => ({ content: [text('This is a simple text response for testing.')] }),
  test_image_content: async () => ({ content: [image] }),
  test_audio_content: async () => ({ content: [{ type: 'audio', data: silence, mimeType: 'audio/wav' }] }),
  test_embedded_resource: async () => ({
    content: [resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  }),
  test_multiple_content_types: async () => ({
    content: [
      text('Multiple content types test:'),
      image,
      resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ],
  }),
  test_error_handling: async () => ({
    content: [text('This tool intentionally returns an error for testing')],
    isError: true,
  }),
  async test_tool_with_logging({ log }) {
    const said = ['Tool execution started', 'Tool processing data', 'Tool execution completed'];
    await inThreeSteps((index) => log(said[index]!));
    return { content: [text('Logged')] };
  },
  async test_tool_with_progress({ progress }) {
    await inThreeSteps((index) => progress(index * 50));
    return { content: [text('Done')] };
  },
};

/** Its schema has what a server must pass on unchanged. */
const schemaTool = {
  name: 'json_schema_2020_12_tool',
  description: 'Tool with JSON Schema 2020-12 features',
  inputSchema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object' as const,
    $defs: { address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
    properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
    additionalProperties: false,
  },
};

const listedTools = [
  ...Object.keys(tools).map((name) => ({ name, description: 'A fixture', inputSchema: { type: 'object' as const } })),
  schemaTool,
];

type Message = { role: 'user'; content: ReturnType<typeof text> | ReturnType<typeof resource> | typeof image };
const say = (content: Message['content']): Message => ({ role: 'user', content });

const prompts: Record<string, (args: Record<string, string>) => Message[]> = {
  test_simple_prompt: () => [say(text('This is a simple prompt for testing.'))],
  test_prompt_with_arguments: ({ arg1, arg2 }) => [say(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
  test_prompt_with_embedded_resource: ({ resourceUri }) => [
    say(resource(resourceUri!, 'text/plain', 'Embedded resource content for testing.')),
    say(text('Please process the embedded resource above.')),
  ],
  test_prompt_with_image: () => [say(image), say(text('Please analyze the image above.'))],
};

function readResource(uri: string) {
  if (uri === 'test://static-binary') return { uri, mimeType: 'image/png', blob: pixel };
  const id = /^test:\/\/template\/(\w+)\/data$/.exec(uri)?.[1];
  return id === undefined
    ? { uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }
    : { uri, mimeType: 'application/json', text: JSON.stringify({ id, templateTest: true }) };
}

/** A server of one request, as the service makes its own. */
export function createFixtureServer(): Server {
  const capabilities = { tools: {}, prompts: {}, resources: { subscribe: true }, completions: {}, logging: {} };
  const server = new Server({ name: 'fixture', version: '1' }, { capabilities });
  server.setRequestHandler('tools/list', () => ({ tools: listedTools }));
  server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => {
    const progressToken = params._meta?.progressToken;
    return tools[params.name]!({
      progressToken,
      log: (data) => mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data } }),
      progress: (progress) =>
        mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken: progressToken!, progress, total: 100 },
        }),
    });
  });
  server.setRequestHandler('prompts/list', () => ({
    prompts: Object.keys(prompts).map((name) => ({ name, description: 'A fixture' })),
  }));
  server.setRequestHandler('prompts/get', ({ params }) => ({
    messages: prompts[params.name]!(params.arguments ?? {}),
  }));
  server.setRequestHandler('resources/list', () => ({
    resources: ['test://static-text', 'test://static-binary'].map((uri) => ({ uri, name: uri })),
  }));
  server.setRequestHandler('resources/read', ({ params }) => ({ contents: [readResource(params.uri)] }));
  server.setRequestHandler('resources/subscribe', () => ({}));
  server.setRequestHandler('resources/unsubscribe', () => ({}));
  server.setRequestHandler('completion/complete', () => ({ completion: { values: [] } }));
  return server;
}
