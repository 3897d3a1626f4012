import { pbkdf2Sync, randomBytes, scryptSync } from 'node:crypto';
import { hash as argon2 } from '@node-rs/argon2';
import { hash as bcrypt } from '@node-rs/bcrypt';
import type { User } from '#database/user/user.js';
import { readPasswordHash } from '#database/user/imported-password-hash.js';
import { verifyPassword } from '#database/user/password.js';
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
  return 'passwordHash' in read ? read.passwordHash : read.problem;
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

  it('rejects an unknown user with the password of another user', async () => {
    for (let round = 0; round < 20; round++) {
      const nobody = { email: `${randomBytes(6).toString('hex')}@example.com` } as User;
      expect(await logIn(nobody, PASSWORD)).toBe(401);
    }
  });
});
