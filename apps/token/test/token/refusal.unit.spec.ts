import type { Refusal, RefusalReason } from '#grants/grant.js';
import type { Credential } from '#oauth/reasons.js';
import { descriptionOf } from '#error-guide/error-description.js';
import { refusalError } from '../../src/token/token.service.js';

describe('the response to a refused code or token', () => {
  // @rfc 6749 5.2 @rfc 8628 3.5
  it.each<[RefusalReason, Credential, string, string]>([
    ['unrecognized', 'code', 'invalid_grant', 'not a code or token of this service'],
    ['wrong_kind', 'refresh token', 'invalid_grant', 'send a refresh token'],
    ['expired', 'code', 'invalid_grant', 'the code has expired'],
    ['expired', 'refresh token', 'invalid_grant', 'the refresh token has expired'],
    ['expired', 'device code', 'expired_token', 'the device code has expired'],
    ['unknown', 'refresh token', 'invalid_grant', 'the refresh token is no longer valid'],
    ['issued_before_failover', 'code', 'invalid_grant', 'after the code was issued'],
    ['revoked', 'refresh token', 'invalid_grant', 'the refresh token has been revoked'],
    ['other_client', 'device code', 'invalid_grant', 'the device code was issued to another client'],
    ['key_mismatch', 'refresh token', 'invalid_grant', 'the refresh token is bound to a key'],
    ['key_unexpected', 'refresh token', 'invalid_grant', 'the refresh token is not bound to a key'],
    ['scope_not_granted', 'refresh token', 'invalid_scope', 'granted none of the requested scopes'],
    ['resource_exceeded', 'code', 'invalid_target', 'did not name'],
    ['redirect_uri_mismatch', 'code', 'invalid_grant', "'redirect_uri' differs"],
    ['decision_pending', 'device code', 'authorization_pending', 'poll again after the interval'],
    ['polled_too_early', 'device code', 'slow_down', 'wait 5 seconds longer'],
    ['decision_denied', 'device code', 'access_denied', 'the user has denied the request'],
    ['verifier_missing', 'code', 'invalid_grant', "'code_verifier' is missing"],
    ['verifier_unexpected', 'code', 'invalid_grant', "'code_verifier' must not be sent"],
    ['verifier_mismatch', 'code', 'invalid_grant', 'the code is now void'],
    ['code_replayed', 'device code', 'invalid_grant', 'the device code was used before'],
    ['refresh_token_reused', 'refresh token', 'invalid_grant', 'every token of its grant is now revoked'],
  ])('(%s, %s) is the error %s, whose description contains %j', (outcome, credential, code, words) => {
    const error = refusalError({ outcome }, credential);
    expect(error).toMatchObject({ code, status: 400 });
    expect(descriptionOf(error.reason)).toContain(words);
  });

  it('logs the compared values for the operator, and does not send them', () => {
    const refusal: Refusal = { outcome: 'expired', grantId: 'g1', sent: 's1', expected: 'e1' };
    const { reason, detail } = refusalError({ ...refusal, expiredAt: '2026-01-01T00:00:00.000Z' }, 'code');
    expect(detail).toEqual({
      check: 'expired',
      grant_id: 'g1',
      sent: 's1',
      expected: 'e1',
      expired_at: '2026-01-01T00:00:00.000Z',
    });
    expect(descriptionOf(reason)).toBe('the code has expired; ask the user to authorize again');
    expect(refusalError(refusal, 'code').detail).not.toHaveProperty('expired_at');
  });
});
