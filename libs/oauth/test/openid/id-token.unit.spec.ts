import { accessTokenHash, sessionIdFor, subjectOf } from '#oauth/openid/id-token.js';

describe('the subject of a user (OpenID Connect Core 8)', () => {
  const [sector, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];

  it('is the id of the user, unless it is pairwise', () => {
    expect(subjectOf({ subjectKey: null }, 7)).toBe('7');
  });

  // @openid core 8.1
  it('is the same for all clients of a sector, and reveals nothing to others', () => {
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

// OpenID Connect Core A.4 has this access token and hash.
// @openid core 3.1.3.6
it('at_hash is the left half of the hash of the signature algorithm (OpenID Connect Core 3.1.3.6)', () => {
  expect(accessTokenHash('jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y', 'RS256')).toBe(
    '77QmUPtjPfzWtF2AnpK9RQ',
  );
  expect(accessTokenHash('token', 'EdDSA')).toHaveLength(43);
});
