import { plainJson } from '../examples/terminal/plain-text.ts';
import { findCaller, nameOf } from './caller.ts';
import { connect, notSignedIn } from './connect.ts';
import { jsonFlags, type Shortcut } from './shortcuts.ts';

const ways = {
  session: 'a session',
  storedKey: 'a stored API key',
  environmentKey: 'the API key in WMS_API_KEY',
};

export const whoami: Shortcut = {
  help: `
Usage: wms whoami [--json]

Says who calls, in which company, at which service and by what. It asks the
service, so it also says whether the sign-in is good.
`,
  flags: jsonFlags,
  async run(_, { signal, isJson, print }) {
    const { client, url, by } = connect();
    if (by === 'nothing') throw notSignedIn(url);
    const caller = await findCaller(client, signal);
    if (isJson) print(`${plainJson({ url, by, caller }, 2)}\n`);
    else print(`${caller ? nameOf(caller) : 'An account without a company'}\n${url}, by ${ways[by]}\n`);
    client.close();
  },
};
