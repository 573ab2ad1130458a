const { createClient, isApiError } = require('work-management-client');

/* A program of CommonJS, for any Node that the package names; beside it the same package as a module. */

const { BASE_URL, ACCESS_TOKEN, REFRESH_TOKEN, COMPANY_ID } = process.env;
const session = { accessToken: ACCESS_TOKEN, refreshToken: REFRESH_TOKEN };

async function run() {
  const modules = await import('work-management-client');
  for (const [how, { createClient: create }] of Object.entries({ require: { createClient }, import: modules })) {
    const client = create({ baseUrl: BASE_URL, session });
    const { data, response } = await client.tasks.list({ company_id: Number(COMPANY_ID) }).withResponse();
    console.log(how, data.results[0].title, response.status);
    const error = await client.tasks.get({ task_id: 999999 }).catch((cause) => cause);
    console.log(how, isApiError(error, 'NOT_FOUND'), modules.isApiError(error, 'NOT_FOUND'));
  }
}
void run();
