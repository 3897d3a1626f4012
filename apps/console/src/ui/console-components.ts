import type { RefusalGroup } from '#audit/operations/explain/refusal-summary.js';
import type { Locale } from '#oauth/locale.js';
import { AdministrationError } from '#platform/validation/administration.error.js';
import type { Change } from '#operations/audit-trail.js';
import { printable, shellWords } from '#operations/wording.js';
import { describeProblems } from '#error-guide/problems/describe-problem.js';
import type { Account } from '#pages/account.js';
import { button, type Notices, postForm } from '#pages/components.js';
import { type Fragment, html, type Html } from '#ui/html.js';

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

/** Waits for a change. @returns the note, with the warnings of the change */
export async function noticesOf(note: string, change: Promise<Change<unknown>>): Promise<Notices> {
  const { announced } = await change;
  return { note, warnings: await announced };
}

export function stateTag(disabledAt: string | null): Html {
  return disabledAt === null
    ? html`<span class="tag">enabled</span>`
    : html`<span class="tag bad">disabled</span>`;
}

/** Title and id of the check or error of refused requests. */
export function refusalCause(
  { title, check, error }: Pick<RefusalGroup, 'title' | 'check' | 'error'>,
  id: Fragment = html`<code>${check ?? error}</code>`,
): Html {
  return html`${title ?? check ?? error}<br />${id}`;
}

/** Text of several lines. */
export function lines(text: string): Html {
  return html`${text.split('\n').map((line, index) => html`${index > 0 && html`<br />`}${line}`)}`;
}

const languageNames = new Intl.DisplayNames('en', { type: 'language' });

export function languageName(locale: Locale): string {
  return languageNames.of(locale) ?? locale;
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
