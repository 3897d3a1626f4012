/// <reference lib="dom" />
import type { Page } from 'playwright-core';

/** Violations of WCAG 2.2: 1.4.10 (reflow), 2.5.5 (44 pixels, except links in sentences), 1.3.1 (heading order). */
export function problemsOf(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const problems: string[] = [];
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth > clientWidth) problems.push(`scrolls sideways: ${scrollWidth} in ${clientWidth}`);
    const name = ({ tagName, className, id }: Element) =>
      `${tagName}${className && `.${className}`}${id && `#${id}`}`;
    const visible = (element: Element) => element.checkVisibility();
    // The target of a checkbox is its label.
    const targets =
      'a[href], button, input:not([type=hidden], [type=checkbox]), select, summary, label.scope';
    for (const target of [...document.querySelectorAll(targets)].filter(visible)) {
      const { width, height } = target.getBoundingClientRect();
      const inSentence =
        target.matches('a:not([class])') && (target.parentElement?.textContent ?? '') !== target.textContent;
      if (!inSentence && Math.min(width, height) < 44)
        problems.push(`too small: ${name(target)} ${width} × ${height}`);
    }
    for (const element of [...document.querySelectorAll('main *')].filter(visible)) {
      const { left, right } = element.getBoundingClientRect();
      if (left < 0 || right > clientWidth) problems.push(`sticks out: ${name(element)}`);
    }
    const levels = [...document.querySelectorAll('h1, h2, h3, h4')].map(({ tagName }) => Number(tagName[1]));
    const [first, ...rest] = levels;
    if (first !== 1 || rest.some((level, index) => level === 1 || level > (levels[index] ?? 0) + 1))
      problems.push(`headings: ${levels.join(' ')}`);
    return problems;
  });
}
