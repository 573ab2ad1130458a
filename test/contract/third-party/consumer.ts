import { called } from './client.ts';
import {
  answerInvitations,
  changeCompany,
  endAccess,
  manageEmployees,
  registerCompany,
  signInEachWay,
  useKeys,
} from './people.ts';
import { readNotifications, talk } from './talk.ts';
import { endWork, logTime, startWork } from './work.ts';

/*
 * A third party's program: it knows the service by the types that a public generator made of /openapi.json and by nothing
 * else. It drives every operation and checks what comes back; at its end it prints what it called.
 */

const company = await registerCompany();
await manageEmployees(company);
await changeCompany(company);
const work = await startWork(company);
await logTime(company, work);
await talk(company, work);
await readNotifications(company);
await useKeys(company);
await endWork(company, work);
await signInEachWay(company);
await endAccess(company);
await answerInvitations();
process.stdout.write(`${JSON.stringify([...called])}\n`);
