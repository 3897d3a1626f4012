import { ACCOUNT_MESSAGES } from './account.messages.js';
import { APPS_MESSAGES } from './apps.messages.js';
import { CONSENT_MESSAGES } from './consent.messages.js';
import { ERROR_KIND_MESSAGES } from './error-kind.messages.js';
import { ERROR_MESSAGES } from './error.messages.js';
import { LOGIN_MESSAGES } from './login.messages.js';
import type { Message } from './message.js';
import { SCOPE_MESSAGES } from './scope.messages.js';

/** Every text of the pages, in every language. A message that lacks one does not compile. */
export const CATALOGUE = {
  ...ACCOUNT_MESSAGES,
  ...APPS_MESSAGES,
  ...CONSENT_MESSAGES,
  ...ERROR_KIND_MESSAGES,
  ...ERROR_MESSAGES,
  ...LOGIN_MESSAGES,
  ...SCOPE_MESSAGES,
} as const satisfies Record<string, Message>;

export type MessageId = keyof typeof CATALOGUE;
