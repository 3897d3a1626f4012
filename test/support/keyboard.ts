import type { Page } from 'playwright-core';

/** Presses Tab until an element with this accessible name, or a field with this name, has the focus. */
export async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press('Tab');
    const focused = page.locator(':focus');
    if ((await focused.count()) === 0) continue;
    if ((await focused.getAttribute('name')) === name) return;
    // The first line is the element itself: a table that scrolls can have the focus, too.
    if ((await focused.ariaSnapshot()).split('\n', 1)[0]?.includes(`"${name}"`)) return;
  }
  throw new Error(`Tab did not reach ${name}`);
}
