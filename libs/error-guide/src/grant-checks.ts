import type { CheckOf, GrantReasons } from '#oauth/reasons.js';
import type { Descriptions } from './descriptions.js';
import type { CheckEntries } from './guide-entry.js';

const AUTHORIZE_AGAIN = 'Send the user through the authorization again.';

/** Codes and tokens (`RefusalReason` of the grant engine): `invalid_grant`, `invalid_scope` and `invalid_target`. */
export const GRANT_CHECKS = {
  unrecognized: {
    title: 'This is not a code or token of this service',
    meaning:
      'The value is truncated, changed, from another installation, or signed with a key that this service does not have.',
    application: [
      'Compare the length of what you send with what you received: columns and logs cut long values.',
      'Check that the code or token is from this installation, not from a test installation.',
    ],
    platform:
      'If it happens to all applications, `TOKEN_KEYS` differs between apps or has lost a key: restore it.',
  },
  wrong_kind: {
    title: 'This is a token of another kind',
    meaning:
      'Codes begin with `sac_`, device codes with `sdc_`, access tokens with `sat_`, refresh tokens with `srt_`. The endpoint requires another kind.',
    application: 'Redeem a code, refresh with the refresh token, and call APIs with the access token.',
  },
  expired: {
    title: 'The code or token has expired',
    meaning:
      'A code is valid for about a minute; a refresh token expires when it has not been used for a long time. The operator sets both.',
    application: ['Redeem a code immediately, on the server that receives the redirect.', AUTHORIZE_AGAIN],
    platform: 'If codes expire immediately, compare the clocks of the servers (`CLOCK_SKEW`).',
  },
  unknown: {
    title: 'The code or token is no longer valid',
    meaning: 'It is genuine, but its grant no longer exists: it was deleted or has expired.',
    application: AUTHORIZE_AGAIN,
    operator: 'See whether the grant is still recorded.',
    commands: ['grant show {grant_id}'],
  },
  issued_before_failover: {
    title: 'A server failed after the code was issued',
    meaning:
      'The service may have lost the record of which codes were used. It refuses the codes issued before, because one might be used twice.',
    application: `${AUTHORIZE_AGAIN} Nothing else is needed.`,
    platform: 'One such error per code in flight is normal after a fail-over of Redis.',
  },
  revoked: {
    title: 'The access was revoked',
    meaning:
      'The user, the operator or the application itself has ended it, a code or refresh token was used twice, the user logged out before a code with `openid` was redeemed, or the user has allowed the application 200 more times since.',
    application: `${AUTHORIZE_AGAIN} Until then treat the account as disconnected.`,
    operator: 'See when it ended, and by whom and why.',
    commands: ['grant show {grant_id}', 'audit search --grant {grant_id}'],
  },
  other_client: {
    title: 'The code or token was issued to another application',
    meaning: 'The `client_id` of the request differs from the authorization request.',
    application:
      'Use the same `client_id` throughout. Check that environments do not share their store of tokens.',
  },
  key_mismatch: {
    title: 'The request did not prove the key of the token',
    meaning:
      'The code or token is bound to a key (DPoP, RFC 9449). The proof is missing, or made with another key.',
    application: [
      'Keep the key with the token, and sign each proof with it. A lost key means a new authorization.',
      'An application that authenticates with keys (`private_key_jwt`) may refresh with another DPoP key, but not without a proof.',
      'Send a bound access token as `Authorization: DPoP <token>` with a proof.',
    ],
  },
  key_unexpected: {
    title: 'The token is not bound to a key',
    meaning:
      'The request has a DPoP proof, but the token was issued without one. A refresh can bind it only if the application authenticates with keys (`private_key_jwt`).',
    application: 'Refresh without a proof, or authorize again and prove the key when you redeem the code.',
  },
  redirect_uri_mismatch: {
    title: 'The redirect_uri differs from the authorization request',
    meaning: 'The token request must have exactly the `redirect_uri` of the authorization request.',
    application:
      'Keep it in one variable and use it in both requests. A trailing slash matters, and so does the port.',
  },
  verifier_missing: {
    title: 'The code verifier is missing',
    meaning:
      'The authorization request had a `code_challenge` (PKCE, RFC 7636), so the token request needs `code_verifier`.',
    application: 'Store the verifier in the session before you redirect the user, and send it with the code.',
  },
  verifier_unexpected: {
    title: 'There was no code challenge',
    meaning:
      'The token request has a `code_verifier`, but the authorization request had no `code_challenge`.',
    application: 'Send `code_challenge` and `code_challenge_method=S256` in the authorization request.',
  },
  verifier_mismatch: {
    title: 'The code verifier does not match',
    meaning:
      'The `code_challenge` was made from another verifier. The code is now invalid, because it may be stolen.',
    application: [
      'Two tabs may share one session: keep one verifier for each `state`.',
      'The challenge is base64url of the SHA-256 of the verifier, without padding.',
    ],
  },
  code_replayed: {
    title: 'The code was used before',
    meaning: 'A code is valid once. Every token that was issued for it has been revoked (RFC 6749 4.1.2).',
    application: [
      'Redeem a code once: redirect after the exchange, so that a reload does not send it again.',
      `${AUTHORIZE_AGAIN} Do not repeat an exchange whose response you have.`,
    ],
  },
  refresh_token_reused: {
    title: 'The refresh token was used before',
    meaning:
      'Each refresh replaces the refresh token. An old one came after the time for retries. Either a refresh token was stolen, or the application sent an old one: it lost a response, two of its workers refreshed, or it restored a backup. The service cannot distinguish the two, so every token of the grant is revoked (RFC 9700 4.14.2).',
    application: [
      'Store the new refresh token before you use the access token. After a lost response, repeat the same request within the time for retries.',
      'One worker refreshes the tokens of a user; the others wait for it. Look for a second environment or a backup with the old token.',
      `If none of this explains it, treat it as theft: find out who could read your tokens. ${AUTHORIZE_AGAIN}`,
    ],
    operator:
      'Compare when and from where the tokens of the grant were used (the address and the user agent are recorded with `AUDIT_CLIENT_ADDRESS=true`). An address that is not the application’s means theft: its secret may have leaked as well.',
    commands: ['audit search --grant {grant_id}'],
  },
  scope_not_granted: {
    title: 'The user granted none of these scopes',
    meaning:
      'A refresh gets the requested scopes that the user granted (RFC 6749 6). Users opt in to optional ones.',
    application: 'Leave `scope` out when you refresh. For more, authorize again with the wider scope.',
  },
  resource_exceeded: {
    title: 'The resource was not in the authorization request',
    meaning:
      'A token request can name the APIs of the authorization request or fewer of them (RFC 8707 2.2).',
    application: 'Name every API in the authorization request, or leave `resource` out of both.',
  },
  scope_malformed: {
    title: 'The scope is malformed',
    meaning: 'Scopes are separated by single spaces, not by commas, and are not JSON (RFC 6749 3.3).',
    application: 'Join the scopes with spaces: `profile:read bookings:read`.',
  },
} as const satisfies CheckEntries<CheckOf<GrantReasons>>;

export const GRANT_DESCRIPTIONS: Descriptions<GrantReasons> = {
  unrecognized: 'this is not a code or token of this service',
  wrong_kind: ({ credential }) => `this is a token of another kind: send a ${credential}`,
  expired: ({ credential }) => `the ${credential} has expired; ask the user to authorize again`,
  unknown: ({ credential }) => `the ${credential} is no longer valid; ask the user to authorize again`,
  issued_before_failover: ({ credential }) =>
    `a server failed after the ${credential} was issued; ask the user to authorize again`,
  revoked: ({ credential }) => `the ${credential} has been revoked; ask the user to authorize again`,
  other_client: ({ credential }) => `the ${credential} was issued to another client`,
  'other_client.token': 'the token was issued to another client',
  key_mismatch: ({ credential }) =>
    `the ${credential} is bound to a key that the request did not prove: send a DPoP proof by that key, or ask the user to authorize again`,
  key_unexpected: ({ credential }) =>
    `the ${credential} is not bound to a key: send it without a DPoP proof, or ask the user to authorize again and prove the key when you redeem the code`,
  scope_not_granted: ({ sent }) => `the user granted none of the requested scopes: ${sent}`,
  scope_malformed: "the parameter 'scope' must be scope tokens separated by spaces",
  resource_exceeded: "the parameter 'resource' names an API that the authorization request did not name",
  redirect_uri_mismatch: "the parameter 'redirect_uri' differs from the one in the authorization request",
  verifier_missing:
    "the authorization request had a code_challenge: the parameter 'code_verifier' is missing",
  verifier_unexpected:
    "the authorization request had no code_challenge: the parameter 'code_verifier' must not be sent",
  verifier_mismatch: "the parameter 'code_verifier' does not match the code_challenge; the code is now void",
  code_replayed: ({ credential }) =>
    `the ${credential} was used before; every token issued for it is now revoked`,
  refresh_token_reused:
    'the refresh token was used before; every token of its grant is now revoked, ask the user to authorize again',
};
