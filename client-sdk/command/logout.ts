import { createClient } from 'work-management-client';
import { setting } from './connect.ts';
import { openSignInFile } from './sign-in-file.ts';
import type { Shortcut } from './shortcuts.ts';

export const logout: Shortcut = {
  help: `
Usage: wms logout

Ends the session on the service and forgets it here. A stored API key is
forgotten only: it works on until it is revoked (\`wms api-keys revoke\`).
`,
  flags: { help: { type: 'boolean', short: 'h' } },
  async run(_, { signal, print }) {
    const file = openSignInFile();
    const { url, apiKey } = file.read() ?? {};
    if (url !== undefined && file.keeping(url).loadSession()) {
      const client = createClient({ baseUrl: url, ...file.keeping(url) });
      await client.auth.logout({ signal });
      print(`Signed out at ${url}.\n`);
    } else if (url !== undefined && apiKey !== undefined) {
      file.write({ url });
      print('The API key is forgotten here; `wms api-keys revoke` ends it.\n');
    } else print('Nobody was signed in.\n');
    if (setting('WMS_API_KEY') !== undefined) process.stderr.write('WMS_API_KEY is still set.\n');
  },
};
