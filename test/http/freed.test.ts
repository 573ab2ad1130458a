import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { endFile } from '../support/file-end.ts';
import { startService } from '../support/service.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
/** Freed objects go in rounds: what one held is found to be free by the next. */
const roundsMax = 100;

async function useService(): Promise<WeakRef<object>[]> {
  const { app, anonymous } = await startService();
  expect((await anonymous.get('/metrics')).status).toBe(200);
  await endFile();
  return [app, app.server, app.services, app.worker].map((one) => new WeakRef(one));
}

test('a service that has ended is freed: nothing of the process holds it', async () => {
  const parts = await useService();
  const held = () => parts.filter((part) => part.deref() !== undefined).length;
  for (let round = 0; held() > 0 && round < roundsMax; round += 1) {
    await delay(50);
    collectGarbage();
  }
  expect(held()).toBe(0);
});
