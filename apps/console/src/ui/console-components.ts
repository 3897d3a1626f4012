import { AdministrationError } from '#operations/administration.error.js';
import { printable, shellWords } from '#operations/wording.js';
import { describeProblems } from '#error-guide/problems/describe-problem.js';
import type { Account } from '#pages/account.js';
import { button, postForm } from '#pages/components.js';
import { html, type Html } from '#ui/html.js';

/** Button that enables a record, or link to the confirmation of its disabling. @param path of the record's page */
export function disableOrEnable(operator: Account, path: string, isDisabled: boolean): Html {
  return isDisabled
    ? postForm(operator, `${path}/enable`, button('Enable', 'even'), '')
    : html`<a class="button danger" href="${path}/disable">Disable</a>`;
}

export function referenceLink(reference: string): Html {
  const query = new URLSearchParams({ reference });
  return html`<a href="/events?${query.toString()}"><code>${reference}</code></a>`;
}

/** Shows the command on its own line, so that nothing else is copied with it. */
export function command(words: readonly string[]): Html {
  return html`<code class="command">operator ${printable(shellWords(words))}</code>`;
}

/** Returns the text of an error of an unavailable service, so that a page can show its other parts. */
export function unlessUnavailable(error: unknown): string {
  if (error instanceof AdministrationError && error.kind === 'unavailable')
    return describeProblems(error, (field) => field).join('; ');
  throw error;
}
