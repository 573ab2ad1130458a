import specs from '@asyncapi/specs';
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { startService } from '../support/service.ts';

const service = await startService();
const { status, headers, body: document } = await service.anonymous.get('/asyncapi.json');

test('is served as AsyncAPI 3, valid by the official schema', () => {
  expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
  const validate = ajv.compile(specs.schemasWithoutId['3.0.0']);
  validate(document);
  expect(validate.errors).toBeNull();
  // The schema finds something to say where there is something wrong.
  expect(validate({ ...document, channels: { x: { messages: 7 } } })).toBe(false);
});

test('names every subscription and every event that the interface has, and nothing points nowhere', () => {
  expect(Object.keys(document.channels)).toEqual([
    'projects.onCompany',
    'tasks.onProject',
    'timers.onMine',
    'comments.onTask',
    'notifications.onMine',
  ]);
  const sent = (operation: string) =>
    document.operations[operation].messages.map(({ $ref }: { $ref: string }) => $ref.split('/').at(-1));
  const everywhere = ['stream.reset', 'stream.opened'];
  expect(sent('comments.onTask')).toEqual([
    ...['created', 'edited', 'deleted', 'liked', 'unliked', 'seen'].map((what) => `comment.${what}`),
    ...everywhere,
  ]);
  expect(sent('notifications.onMine')).toEqual([
    ...['created', 'read', 'updated', 'deleted'].map((what) => `notification.${what}`),
    ...everywhere,
  ]);
  const changes = (record: string, ...acts: string[]) => acts.map((what) => `${record}.${what}`);
  expect(sent('tasks.onProject')).toEqual([
    ...changes('task', 'created', 'updated', 'deleted'),
    ...changes('task_log', 'created', 'updated', 'deleted'),
    'project.imported',
    'project.deleted',
    ...everywhere,
  ]);
  expect(sent('timers.onMine')).toEqual([...changes('timer', 'started', 'stopped'), ...everywhere]);
  expect(sent('projects.onCompany')).toEqual([...changes('project', 'created', 'updated', 'deleted'), ...everywhere]);
  const text = JSON.stringify(document);
  for (const [, pointer] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    const target = pointer!.split('/').reduce((part, step) => part?.[step], document);
    expect({ pointer, isThere: typeof target === 'object' && target.$ref !== `#/${pointer}` }).toEqual({
      pointer,
      isThere: true,
    });
  }
});

test('shows an example of each message, valid by its schema, and describes each field', () => {
  expect(document.info).toMatchObject({ license: { name: expect.any(String) }, contact: { url: expect.any(String) } });
  const ajv = new Ajv({ strict: false, validateFormats: false });
  ajv.addSchema(document, 'document');
  for (const [name, { examples }] of Object.entries<{ examples: [{ payload: unknown }] }>(
    document.components.messages,
  )) {
    const validate = ajv.compile({ $ref: `document#/components/schemas/${encodeURIComponent(name)}` });
    expect([name, validate(examples[0].payload), validate.errors]).toEqual([name, true, null]);
  }
  const schemas = Object.entries<{ properties?: Record<string, { description?: string; $ref?: string }> }>(
    document.components.schemas,
  );
  const bare = schemas.flatMap(([name, { properties = {} }]) =>
    Object.entries(properties)
      .filter(([, { description, $ref }]) => description === undefined && $ref === undefined)
      .map(([field]) => `${name}.${field}`),
  );
  expect(bare).toEqual([]);
});
