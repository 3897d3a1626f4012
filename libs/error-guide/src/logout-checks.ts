import type { CheckEntries } from './guide-entry.js';

const REVIEW = {
  operator: 'Compare the address for log-outs with the application, and correct it.',
  commands: ['client show {client_id}'],
} as const;

/** Logout tokens (Back-Channel Logout 1.0). The service records these checks, because no client request fails. */
export const LOGOUT_CHECKS = {
  logout_token_delayed: {
    title: 'The application did not accept a logout token yet',
    meaning:
      'Its `backchannel_logout_uri` did not respond within 5 seconds, or responded with a status other than 200. The service sends the token again for a week.',
    application:
      'Respond with 200 within 5 seconds, without a redirect: end the session in the background if it takes longer.',
    platform: 'If no application gets logout tokens, the token app must reach port 443 of the internet.',
  },
  logout_address_forbidden: {
    title: 'The address for logout tokens is not public',
    meaning:
      'The `backchannel_logout_uri` is on this machine or in a private network, to which the service does not connect unless `OUTSIDE_FETCH_ALLOW` of the token app names the host. It sends the token again for a week.',
    platform: 'If the application is yours, add its host to `OUTSIDE_FETCH_ALLOW` of the token app.',
    ...REVIEW,
  },
  logout_token_refused: {
    title: 'The application refused a logout token',
    meaning:
      'Its `backchannel_logout_uri` responded with 4xx, which is final (Back-Channel Logout 1.0 2.8). The user may still be logged in there.',
    application:
      'Verify the token as an ID token with `typ` `logout+jwt`, without `nonce`, and with the current keys of `jwks_uri`. Except the address from CSRF protection and from logins.',
    ...REVIEW,
  },
  logout_tokens_paused: {
    title: 'Logout tokens wait, because the application has not accepted any for a day',
    meaning:
      'Its `backchannel_logout_uri` failed for a day, so the service has paused the delivery. Users may still be logged in at the application. The tokens wait for a week.',
    application: 'Make the `backchannel_logout_uri` reachable, and respond with 200 within 5 seconds.',
    operator: 'Then enable the delivery again. A corrected address also ends the pause.',
    commands: ['event enable {client_id}'],
  },
} as const satisfies CheckEntries;
