import { createClient, isApiError } from 'work-management-client';

const client = createClient({ baseUrl: '/', keys: [] }); // wrong
await client.tasks.create({ projectId: 1 }); // wrong
await client.tasks.create({ projectId: 1, title: 'x', status: 'finished' }); // wrong
await client.tasks.destroy({ task_id: 1 }); // wrong
await client.tasks.list({ company_id: 1 }, { idempotencyKey: 'x' }); // wrong
console.log((await client.tasks.get({ task_id: 1 })).name); // wrong
for await (const event of client.comments.onTask({ taskId: 1 })) if (event.type === 'comment.removed') break; // wrong
for await (const employee of client.employees.list({ company_id: 1 })) console.log(employee); // wrong
if (isApiError(client, 'NO_SUCH_FAULT')) console.log(client); // wrong
if (isApiError(client)) console.log(client.issues.some(({ code }) => code === 'no_such_code')); // wrong
await client.employees.get(); // wrong
await client.tasks.get({}); // wrong
await client.employees.updatePicture({ _id: 1, profilePicture: 5 }); // wrong
console.log(await client.tasks.get({ task_id: 1 }).data); // wrong
console.log((await client.tasks.get({ task_id: 1 }).withResponse()).response.requestid); // wrong
