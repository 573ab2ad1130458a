import sharp from 'sharp';
import { expect, test } from 'vitest';
import type { Actor } from '../../support/actor.ts';
import { startService } from '../../support/service.ts';
import { waitUntil } from '../../support/waiting.ts';

const service = await startService();
const member = await service.addEmployee(await service.registerCompany());
const other = await service.registerCompany();

async function paint(side: number): Promise<string> {
  const picture = sharp({ create: { width: side, height: side, channels: 3, background: '#1d3fae' } });
  return (await picture.png({ progressive: true }).toBuffer()).toString('base64');
}

test('many pictures of one company do not hold up the picture of another', async () => {
  const large = await paint(6_900);
  const small = await paint(4);
  const order: string[] = [];
  const send = async (who: string, actor: Actor, profilePicture: string) => {
    const answer = await actor.patch(`/employee/update-picture/${actor.employeeId}/`, { profilePicture });
    order.push(`${who} ${answer.status}`);
  };
  const sent = Array.from({ length: 12 }, () => send('flood', member, large));
  // One is being decoded and eight wait, as many as a company may have in the queue.
  await waitUntil(() => order.includes('flood 503'));
  await send('other', other, small);
  await Promise.all(sent);
  const before = order.slice(0, order.indexOf('other 200'));
  expect(before.filter((one) => one === 'flood 200').length).toBeLessThanOrEqual(2);
  // Of twelve three find no place. Each picture that was done before the last of them arrived has left one, and one more may have
  // been done whose answer was on its way.
  const refused = order.filter((one) => one === 'flood 503').length;
  const done = order.slice(0, order.lastIndexOf('flood 503')).filter((one) => one === 'flood 200').length;
  expect(refused).toBeLessThanOrEqual(3);
  expect(refused).toBeGreaterThanOrEqual(2 - done);
});
