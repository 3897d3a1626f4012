import { pbkdf2Sync, randomBytes, scryptSync } from 'node:crypto';
import { hash as argon2 } from '@node-rs/argon2';
import { hash as bcrypt } from '@node-rs/bcrypt';
import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { formsOf } from '#local/demo/html-form.js';
import type { User } from '#users/user.js';
import { readPasswordHash } from '#users/imported-password-hash.js';
import { verifyPassword } from '#users/password.js';
import { UserStore } from '#users/user.store.js';
import {
  authorizeAddress,
  type AuthorizeApp,
  PASSWORD,
  REDIRECT_URI,
  useAuthorizeApp,
  useProviderLogin,
} from '../support/start-authorize-app.js';
import { PRODUCT_URL, useJwtLogin } from '../jwt-login/use-jwt-login.js';
import { PasswordGate, PasswordService } from '../../src/login/password.service.js';

describe('login', () => {
  const { app, client, user } = useAuthorizeApp();

  const WRONG = 'Incorrect username or password.';

  describe('the login page', () => {
    it('has labelled fields that password managers recognize', async () => {
      const { status, text } = await app.browser().get('/auth/login');
      expect(status).toBe(200);
      expect(text).toMatch(/<label for="username">[\s\S]*<input\s+id="username"\s+name="username"/);
      expect(text).toMatch(/autocomplete="username"/);
      expect(text).toMatch(
        /<label for="password">[\s\S]*name="password"\s+type="password"\s+autocomplete="current-password"/,
      );
      expect(text.match(/<h1>/g)).toHaveLength(1);
      expect(text).toContain('<html lang="en" dir="ltr">');
      expect(text).not.toMatch(/<script(?! src="\/auth\/script\/)|style="|\bon\w+="/);
    });

    it('is skipped for a user who is logged in', async () => {
      const browser = await app.loggedIn(user);
      expect((await browser.get('/auth/login')).headers['location']).toBe('/auth/');
      const query = 'client_id=x&state=a%20b';
      expect((await browser.get(`/auth/login?${query}`)).headers['location']).toBe(
        `/auth/oauth2/authorize?${query}`,
      );
    });
  });

  describe('a login', () => {
    it.each([
      ['e-mail address', () => user.email],
      ['user name', () => user.username],
      ['e-mail address in another case, surrounded by spaces', () => `  ${user.email.toUpperCase()} `],
    ])('accepts the %s', async (_case, username) => {
      const browser = app.browser();
      const answer = await browser.submit(await browser.get('/auth/login'), {
        username: username(),
        password: PASSWORD,
      });
      expect(answer.status).toBe(303);
      expect(answer.headers['location']).toBe('/auth/');
      expect((await browser.follow(answer)).text).toContain(user.email);
    });

    // @rfc 6749 3.1
    it('redirects to the consent page of the original request', async () => {
      const browser = app.browser();
      const address = authorizeAddress({
        client_id: client.clientId,
        redirect_uri: REDIRECT_URI,
        state: 'a&+%"<',
      });
      const login = await browser.follow(await browser.get(address));
      const answer = await browser.submit(login, { username: user.email, password: PASSWORD });
      expect(answer.headers['location']).toBe(address);
      expect((await browser.follow(answer)).text).toContain('Calendar Connect');
    });

    it('continues a request whose parameter names are percent-encoded', async () => {
      const browser = app.browser();
      const login = await browser.get('/auth/login?client%5Fid=x');
      const answer = await browser.submit(login, { username: user.email, password: PASSWORD });
      expect(answer.headers['location']).toBe('/auth/oauth2/authorize?client%5Fid=x');
    });

    // @rfc 6749 10.15 @rfc 9700 2.1
    it('ignores other redirect targets in the query', async () => {
      const browser = app.browser();
      const login = await browser.get('/auth/login?return_to=https://evil.example/&next=//evil.example');
      const answer = await browser.submit(login, { username: user.email, password: PASSWORD });
      expect(answer.headers['location']).toBe('/auth/');
    });
  });

  describe('a failed login', () => {
    const attempt = async (username: string, password: string) => {
      const browser = app.browser();
      return browser.submit(await browser.get('/auth/login'), { username, password });
    };

    it.each([
      ['a wrong password', () => attempt(user.email, `${PASSWORD}!`)],
      ['an unknown user', () => attempt('nobody@example.com', PASSWORD)],
      ['a NUL in the user name', () => attempt(`${user.email}\0`, PASSWORD)],
      ['an SQL wildcard', () => attempt('%', PASSWORD)],
    ])('gets 401 and a message that does not reveal the cause: %s', async (_case, send) => {
      const page = await send();
      expect(page.status).toBe(401);
      expect(page.text).toContain(`<p role="alert" id="problem">${WRONG}</p>`);
      expect(page.text).toContain('<title>Error: Log in · Scheduling</title>');
      expect(page.text).toContain('aria-describedby="problem"');
    });

    it('keeps the user name in the form, but never the password', async () => {
      const page = await attempt('nobody@example.com', 'my secret <word>');
      expect(page.text).toContain('value="nobody@example.com"');
      expect(page.text).not.toContain('my secret');
      expect(page.text).not.toMatch(/type="password"[^>]*value=/);
    });

    it.each(['"><script>alert(1)</script>', "' autofocus onfocus='alert(1)", '</title><b>'])(
      'shows the user name %s as text only',
      async (username) => {
        const page = await attempt(username, 'x');
        expect(page.text).not.toContain(username);
        expect(page.text).not.toMatch(/<script(?! src="\/auth\/script\/)|<b>/);
      },
    );

    it('keeps the authorization request', async () => {
      const browser = app.browser();
      const query = 'client_id=x&state=%22%3E%3Cb%3E&y=<b>';
      const page = await browser.submit(await browser.get(`/auth/login?${query}`), {
        username: 'x',
        password: 'y',
      });
      expect(formsOf(page.text)[0]?.action).toBe(`/auth/login?${query.replace('<b>', '%3Cb%3E')}`);
    });

    it.each([
      ['no user name', { username: '', password: 'x' }, 'Enter your'],
      ['no password', { username: 'ada', password: '' }, 'Enter your'],
      ['a long user name', { username: 'x'.repeat(255), password: 'x' }, 'longer than 254'],
      ['a long password', { username: 'ada', password: 'x'.repeat(257) }, 'longer than 256'],
      ['a nested user name', { 'username[a]': 'x', password: 'x' }, 'Enter your'],
    ])('gets 400 and a clear message for %s', async (_case, fields, message) => {
      const browser = app.browser();
      const page = await browser.submit(await browser.get('/auth/login'), fields);
      expect(page.status).toBe(400);
      expect(page.text).toContain(message);
    });
  });

  describe('the account page', () => {
    it.each(['/auth/', '/auth'])(
      'shows who is logged in and has a working logout form at %s',
      async (path) => {
        const browser = await app.loggedIn(user);
        const page = await browser.get(path);
        expect(page.text).toContain(user.email);
        const out = await browser.submit(page, {});
        expect(out.headers['location']).toBe('/auth/login?done');
        expect((await browser.get(path)).headers['location']).toBe('/auth/login');
      },
    );
  });
});

const CLAIMS: [name: string, claims: Record<string, unknown>, isVerified: boolean][] = [
  ['true', { email_verified: true }, true],
  ['false', { email_verified: false }, false],
  ['absent', {}, false],
  ['another type', { email_verified: 1 }, false],
];

const emailOf = (app: AuthorizeApp, sub: string) =>
  app.sql<{ email_verified: boolean }>('SELECT email_verified FROM users WHERE external_id = $1', [sub]);

describe('a login at an OpenID provider', () => {
  const { app, provider } = useProviderLogin();

  it.each(CLAIMS)(
    'stores the email as verified only if email_verified is true: %s',
    async (name, claims, isVerified) => {
      const sub = `says ${name}`;
      await provider.logIn(app.browser(), { claims: { sub, email: 'ada@example.com', ...claims } });
      expect(await emailOf(app, sub)).toEqual([{ email_verified: isVerified }]);
    },
  );
});

describe('a login by signed JWT', () => {
  const product = useJwtLogin();

  it.each(CLAIMS)(
    'stores the email as verified only if email_verified is true: %s',
    async (name, claims, isVerified) => {
      const sub = `says ${name}`;
      await product.logIn(product.app.browser(), { sub, email_verified: undefined, ...claims });
      expect(await emailOf(product.app, sub)).toEqual([{ email_verified: isVerified }]);
    },
  );

  it('rejects an assertion issued before the deletion of its user, but accepts a new login', async () => {
    const browser = product.app.browser();
    const late = await product.assertion(await product.challenge(browser), { claims: { sub: 'gone' } });
    const identity = { issuer: PRODUCT_URL, externalId: 'gone' };
    await product.app.accounts.deleteIdentity(identity, new Date().toISOString());
    const refused = await product.jwtLogin(browser, late);
    expect(refused.status).toBe(403);
    expect(await product.user('gone')).toBeUndefined();
    await product.app.sql(`UPDATE deleted_identities SET deleted_at = deleted_at - interval '1 minute'`);
    expect((await product.logIn(product.app.browser(), { sub: 'gone' })).status).toBe(303);
    expect(await product.user('gone')).toMatchObject({ email: 'ada@example.com' });
  });
});

describe('foreign hash', () => {
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
});
