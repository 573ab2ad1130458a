import pg from 'pg';
import { atEnd } from './at-end.ts';

async function runOn(serverUrl: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

/** Creates a database on a server, which is dropped when the bench ends; answers its URL. */
export async function createDatabase(serverUrl: string, name: string): Promise<string> {
  const creation = runOn(serverUrl, `create database ${name}`);
  atEnd(async () => {
    // A signal may come in the middle of it.
    await creation.catch(() => {});
    await runOn(serverUrl, `drop database if exists ${name} with (force)`);
  });
  await creation;
  return Object.assign(new URL(serverUrl), { pathname: name }).href;
}
