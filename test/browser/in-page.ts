import axe from 'axe-core';
import type { Page } from 'playwright-core';

/* What is asked of the page itself. It is text here: the types of the tests are those of Node, which has no document. */

/** The words of whatever has the focus. */
export const focusedText = (page: Page): Promise<string> => page.evaluate('document.activeElement.textContent');

/** What is said of whatever has the focus, and how its outline is drawn; a card shows it for the link that fills it. */
export function focusedLabel(page: Page): Promise<{ label: string; outline: string }> {
  return page.evaluate(`(() => {
    const focused = document.activeElement;
    const label = focused.labels?.[0]?.textContent ?? focused.getAttribute('aria-label') ?? focused.textContent;
    return { label, outline: getComputedStyle(focused.closest('.task-card') ?? focused).outlineStyle };
  })()`);
}

/** How many pixels the page is wider than its window. */
export const overflow = (page: Page): Promise<number> =>
  page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');

export async function isDark(page: Page): Promise<boolean> {
  const colour: string = await page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
  return Number(/\d+/.exec(colour)?.[0]) < 100;
}

/** What the page keeps between visits. */
export const storedKeys = (page: Page): Promise<string[]> => page.evaluate('Object.keys(localStorage)');

/** What axe finds wrong with what is shown, a line for each; by all of its rules or by some. */
export async function findBarriers(page: Page, rules?: string[]): Promise<string[]> {
  // Colours are measured when nothing moves any more.
  await page.evaluate('Promise.allSettled(document.getAnimations().map((one) => one.finished)).then(() => null)');
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(axe.source);
  const { violations } = await page.evaluate<{
    violations: { id: string; help: string; nodes: { html: string; failureSummary: string }[] }[];
  }>(`axe.run(document, ${JSON.stringify({ resultTypes: ['violations'], ...(rules && { runOnly: rules }) })})`);
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}: ${html} ${failureSummary}`),
  );
}
