import { preparePage } from '../../server/surfaces/docs/demo-page.ts';

/** Builds the demo page before all tests, where its source has changed: each service that they start serves the same one. */
export async function setup(): Promise<void> {
  const problem = await preparePage();
  if (problem !== undefined) throw new Error(`The demo page cannot be served: ${problem}.`);
}
