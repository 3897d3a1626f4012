import { APIS } from '#test/support/resources.js';
import { storedGrant } from '#test/support/stored-grant.js';
import type { Browser } from '#test/support/browser.js';
import { allow, AUTHORIZE, expectCode, expectConsentPage, useRequests } from '../support/use-requests.js';

const API = 'https://api.example.com';
const BOOKINGS = 'https://bookings.example.com:8443';
const EVERY_API = undefined;
const BOTH = [API, BOOKINGS];

const { app, now, address } = useRequests(APIS);

const requestFor = (resources: readonly string[] = [], more: Record<string, string> = {}): string =>
  [address(more), ...resources.map((api) => `resource=${encodeURIComponent(api)}`)].join('&');

async function consentedFor(
  resources?: readonly string[],
  more: Record<string, string> = {},
): Promise<Browser> {
  const browser = await app.loggedIn(now.user);
  expectCode(await allow(browser, await browser.get(requestFor(resources, more))));
  return browser;
}

interface Recorded {
  readonly id: string;
  readonly resources: string;
}

const recorded = () =>
  app.sql<Recorded>('SELECT id, resources FROM grants WHERE client_id = $1 ORDER BY created_at', [
    now.client.clientId,
  ]);

// @rfc 8707 2.1
describe('the APIs of an authorization request (RFC 8707 2.1)', () => {
  it.each([
    ['no API', [], ''],
    ['a URL of one API', [`${BOOKINGS}/v1/bookings?day=1`], BOOKINGS],
    ['both APIs, in any order and repeated', [`${BOOKINGS}/`, API, `${API}/v2/me`], BOTH.join(' ')],
  ])('are recorded as origins in PostgreSQL and Redis: %s', async (_, resources, expected) => {
    await consentedFor(resources);
    const [grant] = await recorded();
    expect(grant?.resources).toBe(expected);
    expect((await storedGrant(app.redis, grant?.id ?? '')).resources).toBe(expected || undefined);
  });

  it('are named on the consent page', async () => {
    const browser = await app.loggedIn(now.user);
    const named = 'Access is limited to';
    const page = await browser.get(requestFor([`${BOOKINGS}/x`]));
    expect(page.text).toContain(named);
    expect(page.text).toContain('bookings.example.com:8443');
    expect(page.text).not.toContain('api.example.com');
    expect((await browser.get(requestFor())).text).not.toContain(named);
  });

  it("are recorded with the product's user id if the user has one", async () => {
    await app.sql('UPDATE users SET issuer = $1, external_id = $2 WHERE id = $3', [
      'https://product.example.com',
      'ada-1815',
      now.user.id,
    ]);
    await consentedFor();
    const [grant] = await recorded();
    expect((await storedGrant(app.redis, grant?.id ?? '')).externalId).toBe('ada-1815');
    now.user = await app.user();
    now.client = await app.client();
    await consentedFor();
    const [other] = await recorded();
    expect(await storedGrant(app.redis, other?.id ?? '')).not.toHaveProperty('externalId');
  });
});

describe('earlier consent', () => {
  it.each<[string, readonly string[] | undefined, readonly string[] | undefined]>([
    ['one API after consent for every API', EVERY_API, [API]],
    ['every API after consent for every API', EVERY_API, EVERY_API],
    ['a URL of the same API', [API], [`${API}/v2/me`]],
    ['one API after consent for two', BOTH, [BOOKINGS]],
    ['the same two APIs in another order', BOTH, BOTH.toReversed()],
  ])('applies to a request for %s', async (_, allowed, requested) => {
    const browser = await consentedFor(allowed);
    expectCode(await browser.get(requestFor(requested)));
    expectCode(await browser.get(requestFor(requested, { prompt: 'none' })));
  });

  it.each<[string, readonly string[] | undefined, readonly string[] | undefined]>([
    ['another API', [API], [BOOKINGS]],
    ['two APIs after consent for one', [API], BOTH],
    ['every API after consent for one', [API], EVERY_API],
    ['every API after consent for two', BOTH, EVERY_API],
  ])('does not apply to a request for %s', async (_, allowed, requested) => {
    const browser = await consentedFor(allowed);
    expectConsentPage(await browser.get(requestFor(requested)));
    const silent = await browser.get(requestFor(requested, { prompt: 'none' }));
    expect(silent.headers['location']).toContain('error=consent_required');
    expect(await recorded()).toHaveLength(1);
  });

  it('does not apply after its grant has ended, even if a grant for another API is active', async () => {
    const browser = await consentedFor([API]);
    expectCode(await allow(browser, await browser.get(requestFor([BOOKINGS]))));
    await app.sql('UPDATE grants SET revoked_at = now() WHERE resources = $1 AND client_id = $2', [
      API,
      now.client.clientId,
    ]);
    expectConsentPage(await browser.get(requestFor([API])));
    expectCode(await browser.get(requestFor([BOOKINGS])));
  });

  it('ends for all APIs if a scope is declined for one API', async () => {
    const scope = 'profile:read bookings:write';
    const browser = await app.loggedIn(now.user);
    const page = await browser.get(requestFor([API], { scope }));
    const yes = { decision: 'allow', 'allow:bookings:write': 'yes' };
    expectCode(await browser.submit(page, yes, AUTHORIZE));
    const [first] = await recorded();
    expectCode(await allow(browser, await browser.get(requestFor([BOOKINGS], { scope }))));
    expect(await app.records.find(first?.id ?? '')).toMatchObject({ revokedAt: expect.any(Date) });
    expectConsentPage(await browser.get(requestFor([API], { scope })));
  });
});
