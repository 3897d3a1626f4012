import type { RevocationCause } from '#oauth/revocation-cause.js';

interface Reason {
  /** For the administrators of the application. */
  readonly admin: string;
  /** For the user. */
  readonly user: string;
}

const REASONS: Readonly<Record<RevocationCause, Reason>> = {
  user: {
    admin: 'The user removed the access of the application.',
    user: 'You removed the access of this application.',
  },
  operator: {
    admin: 'An operator of the authorization service ended the access.',
    user: 'Your access was ended by the operator. Connect the application again.',
  },
  application: {
    admin: 'The application revoked a token of the grant (RFC 7009).',
    user: 'The application ended its access.',
  },
  account: { admin: 'The account of the user was disabled or deleted.', user: 'Your account was disabled.' },
  declined: {
    admin: 'The user authorized the application again and declined a scope of the earlier grant.',
    user: 'You allowed the application less than before.',
  },
  limit: {
    admin: 'The user authorized the application so often that the oldest grant ended.',
    user: 'You connected the application again, which ended an older connection.',
  },
  code_replayed: {
    admin: 'An authorization code was used twice, so it may be stolen.',
    user: 'The connection was ended to protect your account. Connect the application again.',
  },
  refresh_token_reused: {
    admin: 'A refresh token was used again after its rotation, so it may be stolen.',
    user: 'The connection was ended to protect your account. Connect the application again.',
  },
  verifier_mismatch: {
    admin: 'An authorization code was sent with a wrong code_verifier, so it may be stolen.',
    user: 'The connection was ended to protect your account. Connect the application again.',
  },
};

/** Returns the members of an event that explain a revocation (section 2 of CAEP 1.0). */
export function revocationReasons(cause: string | undefined): object {
  const reason = cause === undefined ? undefined : REASONS[cause as RevocationCause];
  return reason === undefined ? {} : { reason_admin: { en: reason.admin }, reason_user: { en: reason.user } };
}
