import { once } from 'node:events';
import { createServer } from 'node:http';
import { registerHooks } from 'node:module';
import type { Config } from '../../server/config.ts';
import type { Logger } from '../../server/platform/log.ts';
import type { Running } from '../../server/start.ts';

/*
 * Loaded into a process of server/main.ts before that file, it is what the process starts in place of server/start.ts: something
 * that listens, logs each request, and at a stop waits for those that have begun, without a limit.
 */
export async function start({ HOST, PORT, DATA_DIR }: Config, logger: Logger): Promise<Running> {
  const server = createServer((request, response) => {
    logger.info({ url: request.url, method: request.method }, 'answered');
    // A request with a body is never finished.
    if (request.method === 'GET') response.writeHead(request.url === '/readyz' ? 200 : 404).end();
  });
  server.listen(PORT, HOST);
  await once(server, 'listening');
  const url = `http://${HOST}:${PORT}`;
  return {
    url,
    opsUrl: undefined,
    docsUrl: `${url}/docs`,
    publicUrl: url,
    databaseServer: undefined,
    dataFolder: DATA_DIR,
    mailFile: undefined,
    demoPage: undefined,
    demo: undefined,
    async stop() {
      server.close();
      server.closeIdleConnections();
      await once(server, 'close');
    },
  };
}

if (process.argv[1]?.endsWith('server/main.ts'))
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === './start.ts' && context.parentURL?.endsWith('/server/main.ts')
        ? next(import.meta.url, context)
        : next(specifier, context),
  });
