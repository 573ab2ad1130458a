import { expect, test } from 'vitest';
import { errorOf, type Actor } from '../../support/actor.ts';
import { password, startService } from '../../support/service.ts';
import { startWork } from '../../support/work.ts';

/* A person who still calls while they are erased: each call is served, or refused like those of a session that has ended. */

const rounds = 12;
const service = await startService();
const admin = await service.registerCompany();
const { taskId } = await startWork(admin);

/** What asks for the account or the employee of a caller who has been authenticated already. */
const callsOf = (person: Actor) => [
  () => person.get('/api/invitations/'),
  () => person.post('/api/invitations/987654/decline/'),
  () => person.post('/api/invitations/987654/accept/'),
  () => person.get('/api/sessions/'),
  () => person.post('/api/api-keys/', { name: 'Mine', scopes: ['read'] }),
  () =>
    person.put(`/employee/password/${person.employeeId}/`, {
      current_password: password,
      new_password: 'another long password',
      confirm_password: 'another long password',
    }),
  () => person.post('/token-login/', { email: person.email, company_id: person.companyId }),
  () => person.post('/api/task-chats/', { taskId, sender: person.employeeId, message: 'still here' }),
  () => person.post('/api/tasklogs/timer/start/', { taskId }),
  () => person.get(`/employee/me/${person.employeeId}/`),
];

test('no call fails whose account is deleted while it is served', { timeout: 180_000 }, async () => {
  const failed: unknown[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const person = await service.addEmployee(admin);
    const calls = callsOf(person);
    // Another one comes first each time: it is authenticated with the admin, and waits for the transaction of the erasure.
    const turned = [...calls.slice(round % calls.length), ...calls.slice(0, round % calls.length)];
    const erased = admin.post(`/api/employees/${person.employeeId}/erase/`);
    const answers = await Promise.all([...turned, ...turned].map((call) => call()));
    expect((await erased).status).toBe(200);
    for (const answer of answers) if (answer.status >= 500) failed.push(errorOf(answer));
    expect(errorOf(await person.get('/api/invitations/'))).toEqual({ status: 401, code: 'SESSION_ENDED' });
  }
  expect(failed).toEqual([]);
});
