import type { AuthorizeApp } from '../support/start-authorize-app.js';
import { useProviderLogin } from '../support/use-authorize-app.js';
import { PRODUCT_URL } from '../jwt-login/product.js';
import { useJwtLogin } from '../jwt-login/use-jwt-login.js';

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
