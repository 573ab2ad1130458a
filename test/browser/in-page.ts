import axe from 'axe-core';
import type { Page } from 'playwright-core';

/* What is asked of the page itself. It is text here: the types of the tests are those of Node, which has no document. */

/** The words of whatever has the focus. */
export const focusedText = (page: Page): Promise<string> => page.evaluate('document.activeElement.textContent');

/** All that a page shows in words. */
export const textOf = (page: Page): Promise<string> => page.evaluate('document.body.innerText');

/** What is said of whatever has the focus, and how its outline is drawn; a card shows it for the link that fills it. */
export function focusedLabel(page: Page): Promise<{ label: string; outline: string }> {
  return page.evaluate(`(() => {
    const focused = document.activeElement;
    const label = focused.labels?.[0]?.textContent ?? focused.getAttribute('aria-label') ?? focused.textContent;
    return { label, outline: getComputedStyle(focused.closest('.task-card') ?? focused).outlineStyle };
  })()`);
}

/** Whether what has the focus lies under the header or the running timer, which stay where they are. */
export const isFocusCovered = (page: Page): Promise<boolean> =>
  page.evaluate(`(() => {
    const focused = document.activeElement;
    const { left, right, top, bottom } = focused.getBoundingClientRect();
    return [...document.querySelectorAll('.top, .timer-pill')].some((cover) => {
      const over = cover.getBoundingClientRect();
      return !cover.contains(focused) && top < over.bottom && bottom > over.top && left < over.right && right > over.left;
    });
  })()`);

/** Waits until an admin sees all of a person: their figures, and where they are signed in. */
export async function untilPersonIsRead(page: Page): Promise<void> {
  await page.getByText('Last active').waitFor();
  const access = page.getByRole('region', { name: 'Access' });
  await access
    .getByText(/Used|Nowhere/)
    .first()
    .waitFor();
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

/** What stands over the right or left edge of the window, or of a box that cuts it off in the middle of a letter. */
export const stickingOut = (page: Page): Promise<string[]> =>
  page.evaluate(`(() => {
    const { clientWidth } = document.documentElement;
    const scrolls = (element) => element && (getComputedStyle(element).overflowX !== 'visible' || scrolls(element.parentElement));
    return [...document.querySelectorAll('body *')]
      .filter((element) => element.checkVisibility() && !element.closest('.visually-hidden, .skip, svg') && !scrolls(element.parentElement))
      .filter((element) => {
        const { left, right, width } = element.getBoundingClientRect();
        return width > 0 && (right > clientWidth + 0.5 || left < -0.5);
      })
      .map((element) => element.localName + '.' + element.className);
  })()`);

/** Where the first and the last letter of a line begin, from the left; of the last element that a selector finds. */
export const endsOf = (page: Page, selector: string): Promise<{ first: number; last: number }> =>
  page.evaluate(`(() => {
    const { firstChild } = [...document.querySelectorAll('${selector}')].at(-1);
    const leftOf = (at) => {
      const range = document.createRange();
      range.setStart(firstChild, at);
      range.setEnd(firstChild, at + 1);
      return range.getBoundingClientRect().left;
    };
    return { first: leftOf(0), last: leftOf(firstChild.data.length - 1) };
  })()`);

/** Error codes that go on in another line in the middle of a word: anywhere but behind an underscore. */
export const brokenCodes = (page: Page): Promise<string[]> =>
  page.evaluate(`(() => {
    const isBroken = (code) => {
      const range = document.createRange();
      const letters = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
      let before;
      while (letters.nextNode()) {
        for (let at = 0; at < letters.currentNode.length; at += 1) {
          range.setStart(letters.currentNode, at);
          range.setEnd(letters.currentNode, at + 1);
          const { top } = range.getBoundingClientRect();
          if (before && before.top !== top && before.letter !== '_') return true;
          before = { top, letter: letters.currentNode.data[at] };
        }
      }
      return false;
    };
    return [...document.querySelectorAll('code')].filter((code) => /^[A-Z_]+$/.test(code.textContent) && isBroken(code)).map((code) => code.textContent);
  })()`);
