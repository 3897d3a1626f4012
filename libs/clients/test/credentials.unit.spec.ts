import { createHash, randomBytes } from 'node:crypto';
import { generateClientSecret, matchClientSecret } from '#oauth/oauth-client.js';
import { hashPassword, verifyPassword } from '#users/password.js';
import { cpuTime } from '#test/support/process-tree.js';

describe('client secrets', () => {
  // @rfc 6749 2.3.1 @rfc 6749 10.10
  it('consist of scs_ and 256 random bits, stored as SHA-256', () => {
    const { secret, hash } = generateClientSecret();
    expect(secret).toMatch(/^scs_[A-Za-z0-9_-]{43}$/);
    expect(hash).toEqual(createHash('sha256').update(secret).digest());
    expect(generateClientSecret().secret).not.toBe(secret);
  });

  it('are verified against every live secret of the client', () => {
    const [one, two, gone] = [generateClientSecret(), generateClientSecret(), generateClientSecret()];
    const live = [
      { id: 'one', hash: one.hash },
      { id: 'two', hash: two.hash },
    ];
    expect(matchClientSecret(one.secret, live)).toBe('one');
    expect(matchClientSecret(two.secret, live)).toBe('two');
    expect(matchClientSecret(gone.secret, live)).toBeNull();
  });

  it.each([
    ['an empty string', ''],
    ['only the prefix', 'scs_'],
    ['a NUL', '\0'],
    ['a lone surrogate', '\ud800'],
    ['100,000 characters', 'x'.repeat(100_000)],
  ])('do not match an invalid or unknown secret: %s', (_, presented) => {
    expect(matchClientSecret(presented, [{ id: 'one', hash: generateClientSecret().hash }])).toBeNull();
    expect(matchClientSecret(presented, [])).toBeNull();
  });
});

describe('passwords', () => {
  it('are hashed by argon2id with the OWASP parameters and a random salt', async () => {
    const [one, two] = await Promise.all([hashPassword('correct horse'), hashPassword('correct horse')]);
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(one).not.toBe(two);
  });

  it('are verified against their hash', async () => {
    const hash = await hashPassword('correct horse');
    expect(await verifyPassword('correct horse', hash)).toBe(true);
    expect(await verifyPassword('Correct horse', hash)).toBe(false);
    expect(await verifyPassword('', hash)).toBe(false);
  });

  it('never match one of the additional hashes', async () => {
    const hash = await hashPassword('correct horse');
    expect(await verifyPassword('correct horse', null, [hash])).toBe(false);
    expect(await verifyPassword('correct horse', await hashPassword('another'), [hash])).toBe(false);
  });

  it('match in every Unicode composition of their letters', async () => {
    expect(await verifyPassword('cafe\u0301', await hashPassword('caf\u00e9'))).toBe(true);
  });

  it('take about as long to reject for unknown as for known users, because another hash is verified', async () => {
    const hash = await hashPassword(randomBytes(8).toString('hex'));
    const time = async (...hashes: [passwordHash: string | null, others: string[]]) => {
      const start = cpuTime();
      expect(await verifyPassword('guess', ...hashes)).toBe(false);
      return cpuTime() - start;
    };
    let [known, unknown] = [Infinity, Infinity];
    // Alternates, so that other load affects both measurements.
    for (let round = 0; round < 8; round++) {
      known = Math.min(known, await time(hash, []));
      unknown = Math.min(unknown, await time(null, [hash]));
    }
    // Without the other hash the ratio would be in the hundreds.
    expect(Math.max(known, unknown) / Math.min(known, unknown)).toBeLessThan(4);
  });
});
