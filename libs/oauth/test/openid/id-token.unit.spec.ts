import { accessTokenHash, sessionIdFor, subjectOf } from '#oauth/openid/id-token.js';
import fc from 'fast-check';
import { grantedClaims, NO_CLAIMS, parseClaims } from '#oauth/openid/claims.js';
import { OAuthError } from '#oauth/oauth-error.js';

describe('the subject of a user (section 8 of OpenID Connect Core)', () => {
  const [sector, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];

  it('is the id of the user, unless it is pairwise', () => {
    expect(subjectOf({ subjectKey: null }, 7)).toBe('7');
  });

  // @openid core 8.1
  it('is the same for all clients of a sector, but differs in another sector', () => {
    const subject = subjectOf({ subjectKey: sector }, 7);
    expect(subject).toMatch(/^[\w-]{43}$/);
    expect(subjectOf({ subjectKey: Buffer.from(sector) }, 7)).toBe(subject);
    expect(subjectOf({ subjectKey: other }, 7)).not.toBe(subject);
    expect(subjectOf({ subjectKey: sector }, 8)).not.toBe(subject);
  });
});

it('the sid of a session differs between clients, so that pairwise subjects cannot be linked', () => {
  const [one, two] = ['one', 'two'].map((client) => sessionIdFor(client, 'session'));
  expect(one).toMatch(/^[\w-]{22}$/);
  expect(one).not.toBe(two);
  expect(sessionIdFor('one', 'session')).toBe(one);
});

// Uses the access token and hash in appendix A.4 of OpenID Connect Core.
// @openid core 3.1.3.6
it('at_hash is the left half of the token’s hash, with the hash function of the signature algorithm (OpenID Connect Core 3.1.3.6)', () => {
  expect(accessTokenHash('jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y', 'RS256')).toBe(
    '77QmUPtjPfzWtF2AnpK9RQ',
  );
  expect(accessTokenHash('token', 'EdDSA')).toHaveLength(43);
});

describe('the claims parameter (OpenID Connect Core 5.5)', () => {
  it('requests claims for UserInfo by the scopes that grant them, and for the ID token by name', () => {
    const parameter = { userinfo: { name: { essential: true } }, id_token: { email: null, auth_time: null } };
    expect(parseClaims(JSON.stringify(parameter))).toEqual({
      idToken: ['email'],
      scopes: ['profile', 'email'],
      subject: null,
    });
  });

  it('names the expected user by the value of sub', () => {
    expect(parseClaims('{"id_token":{"sub":{"value":"7"}}}').subject).toBe('7');
  });

  it.each(['{"userinfo":{"phone_number":null}}', '{"other":{"name":null}}', '{"id_token":null}', '{}'])(
    'may request unsupported claims, which are ignored: %s',
    (parameter) => {
      expect(parseClaims(parameter)).toEqual(NO_CLAIMS);
    },
  );

  it('cannot request names that every object inherits', () => {
    const parameter =
      '{"__proto__":{"id_token":{"name":null}},"id_token":{"constructor":null,"toString":null}}';
    expect(parseClaims(parameter)).toEqual(NO_CLAIMS);
  });

  it.each(['', 'x', '[]', '"x"', 'null', '{"id_token":[]}', '{"userinfo":"name"}', '['.repeat(2_000)])(
    'is rejected if it is %j',
    (parameter) => {
      expect(() => parseClaims(parameter)).toThrow(OAuthError);
    },
  );

  it('never requests a scope that does not exist', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), (json) => {
        let requested = NO_CLAIMS;
        try {
          requested = parseClaims(json);
        } catch (error) {
          expect(error).toBeInstanceOf(OAuthError);
        }
        for (const scope of requested.scopes) expect(['profile', 'email']).toContain(scope);
      }),
    );
  });
});

describe('claims about the user', () => {
  const claims = { name: 'Ada', email: 'ada@example.com', email_verified: true };

  // @openid core 5.4
  it('are granted by scope, and absent if unknown (OpenID Connect Core 5.4)', () => {
    expect(grantedClaims(claims, ['openid'])).toEqual({});
    expect(grantedClaims(claims, ['openid', 'profile'])).toEqual({ name: 'Ada' });
    expect(grantedClaims(claims, ['openid', 'email'])).toEqual({
      email: 'ada@example.com',
      email_verified: true,
    });
  });
});
