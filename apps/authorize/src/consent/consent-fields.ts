import type { FormFields } from '../session/form-guard.js';
import type { AskedScope } from './remembered-consent.js';

/** Hidden field of the consent form: the scopes that its page stated as required. */
export const STATED = 'stated';

/** The field of a scope's checkbox: one name each, since a form repeats none. */
export function checkboxOf(scope: string): string {
  return `allow:${scope}`;
}

/** What stands in the hidden field. */
export function statedScopes(asked: readonly AskedScope[]): string {
  return asked
    .filter(({ required }) => required)
    .map(({ scope }) => scope)
    .join(' ');
}

/** Whether the page said the same: what became required while it was open, the user has not agreed to. */
export function isAsStated(asked: readonly AskedScope[], fields: FormFields): boolean {
  return (fields[STATED] ?? '') === statedScopes(asked);
}

/** Whether a scope was ticked; boxes of scopes that the request does not ask for count for nothing. */
export function isTicked(fields: FormFields): (scope: string) => boolean {
  return (scope) => fields[checkboxOf(scope)] === 'yes';
}
