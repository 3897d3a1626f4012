import { ClientRegistrationStore } from '#clients/client-registration.store.js';
import { databaseDataSource, requestLimits } from '#database/data-source.js';
import { PATIENT_MS, SCOPES } from '#test/support/app-settings.js';
import { Translator } from '../../src/ui/i18n/translator.js';
import { html } from '#ui/html.js';
import { authorizeAddress, REDIRECT_URI, redirectParameters } from '../support/start-authorize-app.js';
import { useAuthorizeApp } from '../support/use-authorize-app.js';

const AUTHORIZE = '/auth/oauth2/authorize';
const textOf = (scope: string) => html`${new Translator('en', 'en', SCOPES).scope(scope).text}`.text;

const { app, user } = useAuthorizeApp();

/** Returns the granted scope, or the error code. */
async function allowed(scopes: readonly string[], scope?: string): Promise<string | undefined> {
  const { clientId } = await app.client({ scopes });
  const browser = await app.loggedIn(user);
  const page = await browser.get(
    authorizeAddress({ client_id: clientId, redirect_uri: REDIRECT_URI, state: 's', scope }),
  );
  if (page.status === 303) return redirectParameters(page.headers['location'])['error'];
  for (const token of scopes) expect(page.text.includes(textOf(token))).toBe(true);
  await browser.submit(page, { decision: 'allow' }, AUTHORIZE);
  const [record] = await grantsOf(clientId);
  return record?.scope;
}

async function grantsOf(clientId: string): Promise<{ scope: string }[]> {
  const database = await databaseDataSource(app.services.databaseUrl, requestLimits(PATIENT_MS)).initialize();
  try {
    return await database.query('SELECT scope FROM grants WHERE client_id = $1', [clientId]);
  } finally {
    await database.destroy();
  }
}

describe('the scope of an authorization request', () => {
  it.each([
    // @rfc 6749 3.3
    ['profile:read if none is requested', ['profile:read'], undefined, 'profile:read'],
    [
      'every registered scope if none is requested and profile:read is not registered',
      ['bookings:read', 'schedules:read'],
      undefined,
      'bookings:read schedules:read',
    ],
    [
      'the requested scope, in the requested order without duplicates',
      ['profile:read', 'bookings:read'],
      'bookings:read profile:read bookings:read',
      'bookings:read profile:read',
    ],
    // @deviation D5
    [
      'the requested scope separated by commas (known deviation)',
      ['profile:read', 'bookings:read'],
      'bookings:read,profile:read',
      'bookings:read profile:read',
    ],
  ])('is %s, and the consent page describes it', async (_case, registered, scope, granted) => {
    expect(await allowed(registered, scope)).toBe(granted);
  });

  // @rfc 6749 3.3 @openid core 3.1.2.1 @rfc 9700 2.3
  it.each([
    ['unknown', 'profile:read offline_access phone groups'],
    ['not registered for the client', 'openid bookings:write profile:read'],
    ['in another case', 'Bookings:Write profile:read PROFILE:READ'],
  ])('is granted without the scopes that are %s', async (_case, scope) => {
    expect(await allowed(['profile:read'], scope)).toBe('profile:read');
  });

  // @rfc 6749 3.3
  it.each([
    ['nothing else is requested', 'offline_access'],
    ['no requested scope is registered for the client', 'openid bookings:write'],
    ['a scope is malformed', 'profile:read a"b'],
  ])('is rejected as invalid_scope if %s (RFC 6749 4.1.2.1)', async (_case, scope) => {
    expect(await allowed(['profile:read'], scope)).toBe('invalid_scope');
  });

  // @rfc 6750 5.3
  it('is shown on the consent page without the other scopes of the client', async () => {
    const { clientId } = await app.client({ scopes: ['profile:read', 'bookings:write'] });
    const browser = await app.loggedIn(user);
    const parameters = {
      client_id: clientId,
      redirect_uri: REDIRECT_URI,
      state: 's',
      scope: 'bookings:write',
    };
    const page = await browser.get(authorizeAddress(parameters));
    expect(page.text).toContain(textOf('bookings:write'));
    expect(page.text).not.toContain(textOf('profile:read'));
  });
});

describe('a client that is deleted while the consent page is open', () => {
  it('gets no code and no grant, and the user sees an error page', async () => {
    const { clientId } = await app.client();
    const browser = await app.loggedIn(user);
    const page = await browser.get(
      authorizeAddress({ client_id: clientId, redirect_uri: REDIRECT_URI, state: 's' }),
    );
    const database = await databaseDataSource(
      app.services.databaseUrl,
      requestLimits(PATIENT_MS),
    ).initialize();
    await new ClientRegistrationStore(database).delete(clientId);
    await database.destroy();
    const answer = await browser.submit(page, { decision: 'allow' }, AUTHORIZE);
    expect(answer.status).toBe(400);
    expect(answer.headers['location']).toBeUndefined();
    expect(await grantsOf(clientId)).toEqual([]);
  });
});
