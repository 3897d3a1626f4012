import { hash as argon2 } from '@node-rs/argon2';
import { needsRehash, hashPassword, verifyPassword } from '#database/user/password.js';
import { passwordHashProblem } from '#database/user/password-hash.js';

/** Hashes of "pässwörd correct" and of 80 x, by libxcrypt. */
const BCRYPT = ['2a', '2b', '2y'].map(
  (kind) => `$${kind}$10$abcdefghijklmnopqrstuugI0TpnfjLM21wj3AgqJIKItpWVQFXU2`,
);
const OF_80_X = '$2b$04$abcdefghijklmnopqrstuubzadhGtS2zEF.gu0yd0opP6cVzb.e0i';
/** Hashes of "password" with salt "somesalt", by the reference implementation of argon2. */
const REFERENCE = [
  '$argon2i$v=19$m=256,t=2,p=2$c29tZXNhbHQ$T/XOJ2mh1/TIpJHfCdQan76Q5esCFVoT5MAeIM1Oq2E',
  '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4',
];

describe('a password hash of the product', () => {
  it.each(BCRYPT)('is verified: %s', async (hash) => {
    expect(passwordHashProblem(hash)).toBeNull();
    expect(await verifyPassword('pässwörd correct', hash)).toBe(true);
    expect(await verifyPassword('passwörd correct', hash)).toBe(false);
  });

  it.each(REFERENCE)('is verified: %s', async (hash) => {
    expect(passwordHashProblem(hash)).toBeNull();
    expect(await verifyPassword('password', hash)).toBe(true);
    expect(await verifyPassword('Password', hash)).toBe(false);
  });

  it.each([
    '$argon2d$v=19$m=1024,t=3,p=4$seZR+LXt1NDe12XUHa5gZg$3rBFp7jIEBPO0kg6mcz42NaCLjqGx9BI/Ulvr/fF+/k',
    '$argon2i$v=16$m=1024,t=3,p=4$EOQ2htfhcergU7iSbIsRIg$U2QvHIIyIfwcMca9IABdfVB8CaAgPjhZe41Nby4kyc0',
    '$argon2id$v=19$m=1024,t=3,p=4$z7UoQYeM/6j22e4iPJ0WGg$d2kgwzjXy7blO/x0zKlUcQvGfc1mincXkJf68T7cjKU',
  ])('is verified for every type and version: %s', async (hash) => {
    expect(passwordHashProblem(hash)).toBeNull();
    expect(await verifyPassword('correct horse', hash)).toBe(true);
    expect(await verifyPassword('correct horsE', hash)).toBe(false);
  });

  it('is verified if the product did not normalize the password', async () => {
    const decomposed = 'cafe\u0301 au lait';
    const hash = await argon2(decomposed, { memoryCost: 64 });
    expect(await verifyPassword(decomposed, hash)).toBe(true);
    expect(await verifyPassword('cafe au lait', hash)).toBe(false);
  });

  it.each([
    '$argon2id$v=19$m=4294967295,t=3,p=4$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4',
    '$argon2id$v=19$m=65537,t=1,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4',
    '$argon2id$v=19$m=8192,t=65,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4',
    '$argon2id$v=19$m=65536,t=1,p=64$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4',
    BCRYPT[0]?.replace('$10$', '$15$') ?? '',
  ])('is rejected without being computed if it costs too much: %s', async (hash) => {
    expect(passwordHashProblem(hash)).toMatch(/^its (bcrypt cost|argon2 )/);
    expect(await verifyPassword('password', hash)).toBe(false);
  });

  it.each([
    '',
    'secret',
    '5f4dcc3b5aa765d61d8327deb882cf99',
    '$2x$10$abcdefghijklmnopqrstuugI0TpnfjLM21wj3AgqJIKItpWVQFXU2',
    '$2b$10$short',
    '$2b$03$abcdefghijklmnopqrstuugI0TpnfjLM21wj3AgqJIKItpWVQFXU2',
    '$argon2id$v=19$m=8,t=1,p=2$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4',
    '$argon2id$v=19$m=256,t=2,p=1,keyid=abc$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4',
    '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgL',
    '$argon2id$nobody logs in with this',
    // Incomplete base64, spare bits, and a number with a leading zero: the library throws on these.
    '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQAA$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4',
    '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHR$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4',
    '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/5',
    '$argon2id$v=19$m=0256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4',
  ])('is rejected if it has another format: %j', async (hash) => {
    expect(passwordHashProblem(hash)).not.toBeNull();
    expect(await verifyPassword('password', hash)).toBe(false);
  });
});

describe('a bcrypt hash', () => {
  it('covers the first 72 bytes of a password, and is not replaced if the password is longer', async () => {
    for (const password of ['x'.repeat(80), `${'x'.repeat(72)}typo`]) {
      expect(await verifyPassword(password, OF_80_X)).toBe(true);
      expect(needsRehash(password, OF_80_X)).toBe(false);
    }
    expect(needsRehash('x'.repeat(72), OF_80_X)).toBe(true);
    expect(needsRehash('ä'.repeat(72), OF_80_X)).toBe(false);
    expect(await verifyPassword('x'.repeat(71), OF_80_X)).toBe(false);
  });

  it('does not match a password with a NUL', async () => {
    const [hash = ''] = BCRYPT;
    expect(await verifyPassword('pässwörd correct\0', hash)).toBe(false);
    expect(await verifyPassword('pässwörd correct\0more', hash)).toBe(false);
    // The library itself reports a match here.
    expect(await verifyPassword(`${'x'.repeat(72)}\0`, OF_80_X)).toBe(false);
  });
});

it('a hash is replaced unless it has the current parameters', async () => {
  expect(needsRehash('correct horse', await hashPassword('correct horse'))).toBe(false);
  for (const hash of [...BCRYPT, ...REFERENCE]) expect(needsRehash('password', hash)).toBe(true);
});
