import { called } from './client.ts';
import { callExamples } from './examples.ts';
import {
  answerInvitations,
  changeCompany,
  letProgramIn,
  manageEmployees,
  registerCompany,
  signInEachWay,
  useKeys,
} from './people.ts';
import { readNotifications, writeComments } from './comments.ts';
import { endWork, logTime, startWork } from './work.ts';

/*
 * A third party's program: it knows the service by the types that a public generator made of /openapi.json and by nothing
 * else. It drives every operation and checks what comes back; at its end it prints what it called. The test writes examples.ts: calls, by their examples, of what the tour here leaves out.
 */

const company = await registerCompany();
await manageEmployees(company);
await changeCompany(company);
const work = await startWork(company);
await logTime(company, work);
await writeComments(company, work);
await readNotifications(company);
await useKeys(company);
await letProgramIn(company);
await endWork(company, work);
await signInEachWay(company);
await answerInvitations();
await callExamples();
process.stdout.write(`${JSON.stringify([...called])}\n`);
