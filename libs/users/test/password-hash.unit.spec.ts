import { hash as argon2 } from '@node-rs/argon2';
import fc from 'fast-check';
import { needsRehash, hashPassword, verifyPassword } from '#users/password.js';
import { readPasswordHash } from '#users/imported-password-hash.js';
import { kindOf, memoryOf, passwordHashProblem } from '#users/password-hash.js';
import { ImportedUserDto, readIdentity, readImportedUser } from '#users/user-record.js';
import { fieldsOf } from '#platform/validation/validate.js';

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

/** Hashes of "correct horse" by Django 5.2, Werkzeug 3, passlib 1.7, and Python's hashlib for Keycloak. */
const OF_FRAMEWORKS = {
  Django: [
    'pbkdf2_sha256$1000$seasalt1234567890ab$BUJ1PqaWBI6hYCX8FneFOjJPgAiM36Tv/QKPBvUfAZo=',
    'pbkdf2_sha1$1000$seasalt1234567890ab$oTMJKJSxvceURaCgKLqESzTzglc=',
    'scrypt$1024$seasalt1234567890ab$8$5$eavpixdzSQO6+MRFBbc4t9RbG+gIYVmvs7hgZOoRap93FVjfEDvFwgNg3CxYNJRxkV2FmgmePCRsk+Q6cEowow==',
    'argon2$argon2id$v=19$m=102400,t=2,p=8$c2Vhc2FsdDEyMzQ1Njc4OTBhYg$pJozCSk/+3a5i/ZtmYAV7wI7ICVgvB+U2bziRJLK3TQ',
  ],
  Werkzeug: [
    'pbkdf2:sha256:1000$WBha7Zc37VLt4R0i$dbf04a99239eab7f6bd241b21214e19142e22192ef4d1f46cdef40bdaf5c5a6f',
    'pbkdf2:sha1:1000$NOUyI0gL4HngsN7W$a34cb5261dad1381ca125cdcf7a6275d305b6c8c',
    'pbkdf2:sha512:1000$Uy5FAa4UGOyhsoMb$e73fcb1ae24a528dc796444a6ab64ac9fe12e4c04660ada847c9e6304100ea05c3ab04602231e77314b982895cfca079c77ed609ba0740a9a0cdb5eacb01c6f7',
    'scrypt:32768:8:1$zUdDD9tpWrhUSAGj$e6286dc73938e07476b3aaffc6968f1b42a46884f27ba6f57762aa60c709a584f92832bde59de43f74bf6adf7ce3c84b60a5f3f10a556fa4d4c1632172042b55',
  ],
  passlib: [
    '$pbkdf2-sha256$1000$9b7Xei9FyNm711rrHYNQqg$p430J4Vw1codC/KRpZ8JqH.aiIdxddG0YBQxzG8sotw',
    '$pbkdf2-sha512$1000$S2lN6b231prTOmcMwRijVA$lDM.1CWsK/OOORJ1MlIcfwSbZiCR3itS2jMHZJtnUrWl/YeOQufPILVQ3o4nUOxCa6.dUhunRea7Bvsty4S9UQ',
    '$pbkdf2$1000$eC.FsNZa691bS4mREiKE0A$V3bUsDP0ysq1s9snzK0Zy/S87Yk',
    '$scrypt$ln=10,r=8,p=1$LIXwfu+dM8aYM4ZwDsH4nw$gejkd7if8+8Q6SImZWErbsLGsypM6U0XTxJpg+hNLHQ',
  ],
};
const keycloak = (algorithm: string, hashIterations: number, value: string, additionalParameters = {}) => ({
  type: 'password',
  credentialData: JSON.stringify({ algorithm, hashIterations, additionalParameters }),
  secretData: JSON.stringify({ value, salt: 'AAECAwQFBgcICQoLDA0ODw==', additionalParameters: {} }),
});
const ARGON2_OF_KEYCLOAK = {
  hashLength: ['32'],
  memory: ['7168'],
  type: ['id'],
  version: ['1.3'],
  parallelism: ['1'],
};
const OF_KEYCLOAK = [
  keycloak(
    'pbkdf2-sha256',
    1000,
    'yRTMTwbMbo9G0VfjobWqerzuuxe7BETNTErBbKKumGQVykgYqFUkGDPSqmamlmDo91gX1JZ69LgWiJuFkmT+UQ==',
  ),
  keycloak(
    'pbkdf2-sha512',
    1000,
    'Xpx07WjVx4vCIvrmBRj8uOoVVtGqJqtUv2J5bhizSQs7osCteF7W4A61dZDqSIqQjO+dxO6p5FT/Uy7QRBXSXA==',
  ),
  keycloak(
    'pbkdf2',
    1000,
    'ndhWw3a4srcTtr4HQFTLiKRlVuARheqNDSZ/M5xlIWnV8dW5o4FxWW4SX6V6pwPMFQrFliwwmyqHNSBeApSZPA==',
  ),
  keycloak('argon2', 5, 'I9aBicNnH49yuiIjQJC85giAQWszITIjdobXf3FdYMg=', ARGON2_OF_KEYCLOAK),
];

describe('a hash of another framework', () => {
  const hashes = [
    ...Object.entries(OF_FRAMEWORKS).flatMap(([name, texts]) => texts.map((text) => [name, text] as const)),
    ...OF_KEYCLOAK.flatMap((credential) => [
      ['Keycloak', credential] as const,
      ['Keycloak, in a cell', JSON.stringify(credential)] as const,
    ]),
    ['Django', `bcrypt$${BCRYPT[1]}`, 'pässwörd correct' as string] as const,
  ];

  it.each(hashes)(
    'is stored in a format that is verified and replaced: %s',
    async (_, given, password = 'correct horse') => {
      const read = readPasswordHash(given);
      if ('reason' in read) throw new Error(read.reason);
      expect(await verifyPassword(password, read.passwordHash)).toBe(true);
      expect(await verifyPassword(`${password}!`, read.passwordHash)).toBe(false);
      expect(needsRehash(password, read.passwordHash)).toBe(true);
      expect(readPasswordHash(read.passwordHash)).toEqual(read);
    },
  );

  it.each([
    ['PHPass', '$P$5iFSdA4yZLBH3oTg3ysnPwnAE4vW3.1'],
    ['MD5', '5f4dcc3b5aa765d61d8327deb882cf99'],
    ['no hash', 'secret'],
    ['too many iterations', 'pbkdf2_sha256$2000001$seasalt$BUJ1PqaWBI6hYCX8FneFOjJPgAiM36Tv/QKPBvUfAZo='],
    [
      'too many iterations for its length',
      keycloak('pbkdf2-sha256', 1_000_001, OF_KEYCLOAK[0]!.secretData.slice(10, 98)),
    ],
    [
      'too much memory',
      '$scrypt$ln=18,r=8,p=1$LIXwfu+dM8aYM4ZwDsH4nw$gejkd7if8+8Q6SImZWErbsLGsypM6U0XTxJpg+hNLHQ',
    ],
    [
      'too much work',
      '$scrypt$ln=14,r=8,p=16$LIXwfu+dM8aYM4ZwDsH4nw$gejkd7if8+8Q6SImZWErbsLGsypM6U0XTxJpg+hNLHQ',
    ],
    [
      'too many lanes',
      '$scrypt$ln=1,r=1,p=4000000$LIXwfu+dM8aYM4ZwDsH4nw$gejkd7if8+8Q6SImZWErbsLGsypM6U0XTxJpg+hNLHQ',
    ],
    [
      'an N that is no power of two',
      'scrypt:1000:8:1$salt$e6286dc73938e07476b3aaffc6968f1b42a46884f27ba6f57762aa60c709a584',
    ],
    [
      'an N that OpenSSL refuses',
      '$scrypt$ln=16,r=1,p=1$LIXwfu+dM8aYM4ZwDsH4nw$gejkd7if8+8Q6SImZWErbsLGsypM6U0XTxJpg+hNLHQ',
    ],
    [
      'a small N and many lanes',
      '$scrypt$ln=1,r=1,p=17$LIXwfu+dM8aYM4ZwDsH4nw$gejkd7if8+8Q6SImZWErbsLGsypM6U0XTxJpg+hNLHQ',
    ],
    [
      'a small N and large blocks',
      '$scrypt$ln=1,r=33,p=1$LIXwfu+dM8aYM4ZwDsH4nw$gejkd7if8+8Q6SImZWErbsLGsypM6U0XTxJpg+hNLHQ',
    ],
    ['an unknown algorithm of Keycloak', keycloak('md5', 1, 'AAAA')],
    [
      'no parameters of Keycloak’s argon2',
      keycloak('argon2', 5, 'AAAA', null as unknown as Record<string, unknown>),
    ],
    [
      'a salt of Keycloak that is not text',
      {
        credentialData: { algorithm: 'pbkdf2', hashIterations: 1 },
        secretData: { value: 'AAAA', salt: { toString: 1 } },
      },
    ],
    ['an object of another kind', { value: 'x' }],
    ['a number', 7],
    ['null', null],
  ])('is refused with the next step: %s', (_, given) => {
    expect(readPasswordHash(given)).toEqual(expect.objectContaining({ reason: expect.any(String) }));
  });

  it('is verified alone if it needs more than 64 MiB', async () => {
    const { passwordHash = '' } = readPasswordHash(OF_FRAMEWORKS.Django[3]) as { passwordHash?: string };
    const results = await Promise.all(
      ['correct horse', 'wrong', 'correct horse'].map((password) => verifyPassword(password, passwordHash)),
    );
    expect(results).toEqual([true, false, true]);
  });
});

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
    '$argon2id$v=19$m=131073,t=1,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4',
    '$argon2id$v=19$m=8192,t=65,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4',
    '$argon2i$v=19$m=128,t=65,p=16$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4',
    '$argon2id$v=19$m=65536,t=1,p=64$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4',
    BCRYPT[0]?.replace('$10$', '$15$') ?? '',
  ])('is rejected without being computed if it costs too much: %s', async (hash) => {
    expect(passwordHashProblem(hash)).toHaveProperty(
      'reason',
      expect.stringMatching(/^(bcrypt_cost|argon2_)/),
    );
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

describe('an accepted hash', () => {
  const SALT_AND_HASH = `c29tZXNhbHQ$${'A'.repeat(43)}`;
  const ofEachKind = [
    `$argon2id$v=19$m=16,t=1,p=2$${SALT_AND_HASH}`,
    BCRYPT[1]!.replace('$10$', '$04$'),
    `$pbkdf2-sha256$i=2,l=32$${SALT_AND_HASH}`,
    `$scrypt$ln=2,r=1,p=1$${SALT_AND_HASH}`,
  ];

  it('never fails to be verified, whatever its parameters', async () => {
    const exponent = fc.integer({ min: 1, max: 40 });
    const number = exponent.chain((bits) => fc.integer({ min: 1, max: 2 ** Math.min(bits, 30) }));
    const hash = fc.oneof(
      fc.tuple(fc.integer({ min: 1, max: 20 }), number, number).map((n) => ['scrypt', ...n] as const),
      fc.tuple(number, number, number).map((n) => ['argon2', ...n] as const),
    );
    await fc.assert(
      fc.asyncProperty(hash, async ([kind, x, y, z]) => {
        const text =
          kind === 'scrypt'
            ? `$scrypt$ln=${x},r=${y},p=${z}$${SALT_AND_HASH}`
            : `$argon2id$v=19$m=${x},t=${y},p=${z}$${SALT_AND_HASH}`;
        fc.pre(passwordHashProblem(text) === null);
        const errors: unknown[] = [];
        expect(await verifyPassword('correct horse', text, [], (_, error) => errors.push(error))).toBe(false);
        expect(errors).toEqual([]);
      }),
      { numRuns: 10 },
    );
    for (let r = 1; r <= 3; r += 1) {
      const accepted = (ln: number) =>
        passwordHashProblem(`$scrypt$ln=${ln},r=${r},p=1$${SALT_AND_HASH}`) === null;
      // 128 MiB permit at most 2^20 blocks of 128 bytes.
      expect(Array.from({ length: 20 }, (_, at) => at + 1).findLast(accepted)).toBe([15, 19, 18][r - 1]);
    }
  });

  it.each(ofEachKind)(
    'does not match if the library fails, and the failure is reported: %s',
    async (hash) => {
      const unusable = { normalize: () => Symbol('no text') } as unknown as string;
      const reported: string[] = [];
      const report = (failed: string) => reported.push(failed);
      expect(await verifyPassword(unusable, hash, ofEachKind, report)).toBe(false);
      expect(reported).toEqual([hash, ...ofEachKind]);
    },
  );

  it('is named by its algorithm and parameters only', () => {
    expect(ofEachKind.map(kindOf)).toEqual([
      'argon2id$v=19$m=16,t=1,p=2',
      '2b$04',
      'pbkdf2-sha256$i=2,l=32',
      'scrypt$ln=2,r=1,p=1',
    ]);
  });

  it('needs the memory of all blocks of scrypt', () => {
    expect(memoryOf(`$scrypt$ln=16,r=8,p=1$${SALT_AND_HASH}`)).toBe(65_536 + 3);
    expect(memoryOf(`$scrypt$ln=1,r=32,p=16$${SALT_AND_HASH}`)).toBe(80);
  });
});

describe('the reader of users', () => {
  const values = fc.oneof(
    fc.jsonValue(),
    fc.string(),
    fc.constantFrom(...Object.values(OF_FRAMEWORKS).flat(), ...BCRYPT),
    fc.record(
      {
        credentialData: fc.oneof(
          fc.jsonValue(),
          fc.record(
            {
              algorithm: fc.oneof(fc.constantFrom('argon2', 'pbkdf2', 'pbkdf2-sha256'), fc.jsonValue()),
              hashIterations: fc.jsonValue(),
              additionalParameters: fc.oneof(
                fc.jsonValue(),
                fc.dictionary(fc.constantFrom('type', 'version', 'memory', 'parallelism'), fc.jsonValue()),
              ),
            },
            { requiredKeys: [] },
          ),
        ),
        secretData: fc.oneof(
          fc.jsonValue(),
          fc.record({ value: fc.jsonValue(), salt: fc.oneof(fc.jsonValue(), fc.constant({ toString: 1 })) }),
        ),
      },
      { requiredKeys: [] },
    ),
  );

  it('returns an accepted hash or a problem for any value', () => {
    fc.assert(
      fc.property(values, fc.boolean(), (value, asText) => {
        const read = readPasswordHash(asText ? JSON.stringify(value) : value);
        if ('reason' in read) expect(read.reason).not.toBe('');
        else expect(passwordHashProblem(read.passwordHash)).toBeNull();
      }),
      { numRuns: 1000 },
    );
  });

  it('never throws on a line', () => {
    const fields = fc.constantFrom(...fieldsOf(ImportedUserDto), '__proto__', 'toString');
    fc.assert(
      fc.property(fc.dictionary(fields, values), (record) => {
        const read = readImportedUser(record, null, Date.now());
        expect('user' in read || read.problems.length > 0).toBe(true);
        readIdentity(record, Date.now());
      }),
      { numRuns: 500 },
    );
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
