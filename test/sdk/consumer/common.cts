import client = require('work-management-client');

/* What a program of CommonJS does with the client: checked by the compiler. */

type Task = client.Task;

async function titles(work: client.Client): Promise<string[]> {
  const { data, response } = await work.tasks.list().withResponse();
  if (response.isReplayed) throw new Error(response.requestId);
  return data.results.map(({ title }: Task) => title);
}

export = { titles, create: client.createClient };
