import type { Page } from 'playwright-core';

/** Presses Tab until an element with this accessible name or field name has the focus. Waits until it is enabled. */
export async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press('Tab');
    const focused = page.locator(':focus');
    if ((await focused.count()) === 0) continue;
    const isField = (await focused.getAttribute('name')) === name;
    // Compares only the first line, which is the element itself, because a scrollable table can also have the focus.
    if (isField || (await focused.ariaSnapshot()).split('\n', 1)[0]?.includes(`"${name}"`)) {
      // The script of the page disables the button Allow for half a second.
      await page.locator(':focus:not([aria-disabled])').waitFor();
      return;
    }
  }
  throw new Error(`Tab did not reach ${name}`);
}
