import { pbkdf2Sync, randomBytes, scryptSync } from 'node:crypto';
import { hash as argon2 } from '@node-rs/argon2';
import { hash as bcrypt } from '@node-rs/bcrypt';
import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { User } from '#users/user.js';
import { readPasswordHash } from '#users/imported-password-hash.js';
import { verifyPassword } from '#users/password.js';
import { UserStore } from '#users/user.store.js';
import { PasswordGate } from '../../src/login/password-gate.js';
import { PasswordService } from '../../src/login/password.service.js';
import { PASSWORD } from '../support/start-authorize-app.js';
import { useAuthorizeApp } from '../support/use-authorize-app.js';

const { app } = useAuthorizeApp({});

async function storedHash({ id }: User): Promise<string> {
  const [row] = await app.sql<{ hash: string }>('SELECT password_hash AS hash FROM users WHERE id = $1', [
    id,
  ]);
  return row?.hash ?? '';
}

async function logIn({ email }: User, password: string): Promise<number> {
  const browser = app.browser();
  const page = await browser.get('/auth/login');
  return (await browser.submit(page, { username: email, password })).status;
}

const ARGON2I =
  '$argon2i$v=19$m=1024,t=1,p=2$BQSs5v2hmSPuugcTYNt7HA$iIDG3+62jp6mduEB292gfZ/4JSluJc1Eq/f1iEg9kl0';
async function imported(hash: string): Promise<string> {
  const read = readPasswordHash(hash);
  return 'passwordHash' in read ? read.passwordHash : read.reason;
}
const cheap = { memoryCost: 1024, timeCost: 1, parallelism: 2 };

describe.each([
  ['bcrypt', () => bcrypt(PASSWORD, { cost: 4, version: '2a' })],
  ['PHP’s bcrypt', () => bcrypt(PASSWORD, { cost: 4, version: '2y' })],
  ['argon2i', async () => ARGON2I],
  ['argon2id with other parameters', () => argon2(PASSWORD, cheap)],
  [
    'Django’s PBKDF2',
    () =>
      imported(
        `pbkdf2_sha256$1000$salt$${pbkdf2Sync(PASSWORD, 'salt', 1000, 32, 'sha256').toString('base64')}`,
      ),
  ],
  [
    'Werkzeug’s scrypt',
    () => imported(`scrypt:1024:8:1$salt$${scryptSync(PASSWORD, 'salt', 64, { N: 1024 }).toString('hex')}`),
  ],
])('a user whose password the product hashed with %s', (_, hashed) => {
  it('can log in, and then has an argon2id hash with the current parameters', async () => {
    const before = await hashed();
    const user = await app.user(undefined, before);
    expect(await logIn(user, 'wrong')).toBe(401);
    expect(await storedHash(user)).toBe(before);
    expect(await logIn(user, PASSWORD)).toBe(303);
    const replaced = await storedHash(user);
    expect(replaced).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await verifyPassword(PASSWORD, replaced)).toBe(true);
    expect(await logIn(user, PASSWORD)).toBe(303);
    expect(await storedHash(user)).toBe(replaced);
  });
});

describe('a login', () => {
  it('keeps the bcrypt hash of a password that is longer than 72 bytes', async () => {
    const long = 'x'.repeat(80);
    const imported = await bcrypt(long, { cost: 4 });
    const user = await app.user(undefined, imported);
    expect(await logIn(user, `${'x'.repeat(79)}y`)).toBe(303);
    expect(await storedHash(user)).toBe(imported);
    expect(await logIn(user, long)).toBe(303);
  });

  it('does not replace the hash of a disabled user', async () => {
    const imported = await bcrypt(PASSWORD, { cost: 4 });
    const user = await app.user(undefined, imported);
    await app.accounts.disable(user.id);
    expect(await logIn(user, PASSWORD)).toBe(403);
    expect(await storedHash(user)).toBe(imported);
  });

  it('is not stopped by a hash of another user that cannot be verified', async () => {
    const other = await app.user(undefined, `$scrypt$ln=20,r=1,p=1$c2FsdA$${'A'.repeat(43)}`);
    expect(await logIn(await app.user(), PASSWORD)).toBe(303);
    expect(await logIn(other, PASSWORD)).toBe(401);
  });

  it('logs the user and the kind of each hash that cannot be verified, and never a hash', async () => {
    const passwordHash = `$scrypt$ln=2,r=1,p=1$c2FsdA$${'A'.repeat(43)}`;
    const others = [{ userId: 8, passwordHash: `$pbkdf2-sha1$i=2,l=32$c2FsdA$${'A'.repeat(43)}` }];
    const error = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    const service = new PasswordService({} as UserStore, new PasswordGate());
    const unusable = { normalize: () => 7 } as unknown as string;
    const user = { id: 7 } as User;
    try {
      expect(await service.verify(unusable, { user, passwordHash, others }, true)).toBe(false);
      expect(await service.verify(unusable, { user: null, passwordHash: null, others }, true)).toBe(false);
      const [own, another] = [
        { user_id: 7, kind: 'scrypt$ln=2,r=1,p=1' },
        { user_id: 8, kind: 'pbkdf2-sha1$i=2,l=32' },
      ].map((line) => expect.objectContaining(line));
      expect(error.mock.calls).toEqual([[own], [another], [another]]);
      expect(JSON.stringify(error.mock.calls)).not.toContain('AAAA');
    } finally {
      error.mockRestore();
    }
  });

  it('rejects an unknown user with the password of another user', async () => {
    for (let round = 0; round < 20; round++) {
      const nobody = { email: `${randomBytes(6).toString('hex')}@example.com` } as User;
      expect(await logIn(nobody, PASSWORD)).toBe(401);
    }
  });
});
