import type { Reason, Reasons } from '#oauth/reasons.js';
import { ASSERTION_DESCRIPTIONS } from './assertion-checks.js';
import { AUTHORIZATION_DESCRIPTIONS } from './authorization-checks.js';
import { CLIENT_DESCRIPTIONS } from './client-checks.js';
import { type Descriptions, textOf } from './descriptions.js';
import { DEVICE_DESCRIPTIONS } from './device-checks.js';
import { PROOF_DESCRIPTIONS } from './dpop-checks.js';
import { EVENT_DESCRIPTIONS } from './event-checks.js';
import { GRANT_DESCRIPTIONS } from './grant-checks.js';
import { PAGE_DESCRIPTIONS } from './page-checks.js';
import { REQUEST_DESCRIPTIONS } from './request-checks.js';
import { SERVICE_DESCRIPTIONS } from './service-checks.js';

const DESCRIPTIONS = {
  ...REQUEST_DESCRIPTIONS,
  ...CLIENT_DESCRIPTIONS,
  ...ASSERTION_DESCRIPTIONS,
  ...AUTHORIZATION_DESCRIPTIONS,
  ...GRANT_DESCRIPTIONS,
  ...DEVICE_DESCRIPTIONS,
  ...PROOF_DESCRIPTIONS,
  ...PAGE_DESCRIPTIONS,
  ...EVENT_DESCRIPTIONS,
  ...SERVICE_DESCRIPTIONS,
} satisfies Descriptions<Reasons>;

/** Returns the `error_description` of a reason (RFC 6749 4.1.2.1 and 5.2). */
export function descriptionOf(reason: Reason): string {
  return textOf<Reasons>(DESCRIPTIONS, reason);
}
