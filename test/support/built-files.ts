import { clientPackage } from '../../server/surfaces/docs/client-package.ts';
import { preparePage } from '../../server/surfaces/docs/demo-page.ts';

/** Builds what is served, where its source has changed: each service that the tests start serves the same. */
export async function setup(): Promise<void> {
  const problem = (await preparePage()) ?? (await clientPackage.prepare());
  if (problem !== undefined) throw new Error(`The demo page or the client cannot be served: ${problem}.`);
}
