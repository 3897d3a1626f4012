import pg from 'pg';
import { blocked } from '#test/support/until.js';
import { auditEvents } from '#test/support/audit-trail.js';
import { MAX_LIVE_GRANTS } from '#grants/grant.js';
import { APIS } from '#test/support/resources.js';
import { storedGrant } from '#test/support/stored.js';
import type { Browser } from '#test/support/browser.js';
import { PKCE } from '../support/start-authorize-app.js';
import { stateOf } from '../support/connected-apps.js';
import { allow, AUTHORIZE, expectCode, expectConsentPage, useRequests } from '../support/use-requests.js';

describe('given consent', () => {
  const { app, now, address, consented, logIn, scopes } = useRequests();

  describe('earlier consent', () => {
    it('is reused for the granted scopes without a page', async () => {
      const scope = 'profile:read bookings:read bookings:write';
      const browser = await consented({ scope });
      expectCode(await browser.get(address({ scope })));
      expectCode(await (await app.loggedIn(now.user)).get(address({ scope: 'bookings:read' })));
      expect(await scopes()).toEqual([
        'profile:read bookings:read',
        'profile:read bookings:read',
        'bookings:read',
      ]);
    });

    it('does not cover a new scope or a declined scope that is now required', async () => {
      const browser = await consented({ scope: 'profile:read bookings:write' });
      expectConsentPage(await browser.get(address({ scope: 'profile:read bookings:read' })));
      expectCode(await browser.get(address({ scope: 'profile:read bookings:write' })));
      await app.sql("UPDATE clients SET optional_scopes = '{}' WHERE client_id = $1", [now.client.clientId]);
      expectConsentPage(await browser.get(address({ scope: 'profile:read bookings:write' })));
    });

    it('does not apply to another user or another application', async () => {
      const browser = await consented();
      expectConsentPage(await (await app.loggedIn(await app.user())).get(address()));
      const other = await app.client();
      expectConsentPage(await browser.get(address({ client_id: other.clientId })));
    });

    it.each(['revoked_at = now()', "expires_at = now() - interval '1 s'"])(
      'ends when its grants end: %s',
      async (change) => {
        const browser = await consented();
        await app.sql(`UPDATE grants SET ${change} WHERE client_id = $1`, [now.client.clientId]);
        expectConsentPage(await browser.get(address()));
      },
    );

    // @rfc 6749 10.2 @rfc 8252 8.6
    it('does not apply to an application without a verified identity (RFC 8252 8.6)', async () => {
      for (const [redirectUri, asks] of [
        ['com.example.pocket:/callback', true],
        ['cursor://anysphere.cursor-mcp/oauth/callback', true],
        ['http://127.0.0.1/callback', true],
        ['http://[::1]/callback', true],
        ['http://localhost:4000/callback', true],
        ['https://pocket.example/callback', false],
      ] as const) {
        now.client = await app.client({ type: 'public', firstParty: true }, redirectUri);
        const more = { redirect_uri: redirectUri, ...PKCE };
        const browser = await app.loggedIn(now.user);
        const page = await browser.get(address({ ...more, prompt: 'consent' }));
        expect((await allow(browser, page)).status).toBe(303);
        const again = await browser.get(address(more));
        expect([redirectUri, again.status]).toEqual([redirectUri, asks ? 200 : 303]);
        const none = await browser.get(address({ ...more, prompt: 'none' }));
        expect(none.headers['location']?.includes('error=consent_required')).toBe(asks);
      }
    });

    it('yields the consent page in place of a code if it is revoked during the request', async () => {
      const browser = await consented();
      const database = new pg.Client({ connectionString: app.services.databaseUrl });
      await database.connect();
      await database.query('BEGIN');
      await database.query('SELECT FROM users WHERE id = $1 FOR NO KEY UPDATE', [now.user.id]);
      await database.query('UPDATE grants SET revoked_at = now() WHERE user_id = $1', [now.user.id]);
      const answer = browser.get(address());
      await blocked(app);
      await database.query('COMMIT');
      await database.end();
      expect((await answer).headers['location']).toBe(address());
      expectConsentPage(await browser.follow(await answer));
      expect(await scopes()).toHaveLength(1);
    });

    it('is requested again after 100 grants to the application within a day', async () => {
      const browser = await consented();
      const copies = (count: number) =>
        app.sql(
          `INSERT INTO grants (id, user_id, client_id, scope, requested_scope, lifetime, expires_at)
         SELECT rpad(md5(random()::text), 43, 'x'), user_id, client_id, scope, requested_scope, lifetime, expires_at
         FROM (SELECT * FROM grants WHERE client_id = $1 LIMIT 1) one, generate_series(1, $2::integer)`,
          [now.client.clientId, count],
        );
      await copies(98);
      expectCode(await browser.get(address()));
      expectConsentPage(await browser.get(address()));
      await app.sql("UPDATE grants SET created_at = created_at - interval '1 day' WHERE client_id = $1", [
        now.client.clientId,
      ]);
      expectCode(await browser.get(address()));
    });

    it('redirects from the login to the application without another page', async () => {
      await consented();
      const browser = app.browser();
      const login = await browser.follow(await browser.get(address()));
      expectCode(await browser.follow(await logIn(browser, login)));
    });
  });

  describe('a first-party application', () => {
    beforeEach(async () => {
      now.client = await app.client({
        firstParty: true,
        scopes: ['profile:read', 'bookings:write'],
        optionalScopes: ['bookings:write'],
      });
    });
    const scope = 'profile:read bookings:write';

    it('gets the requested scopes without a consent page', async () => {
      expectCode(await (await app.loggedIn(now.user)).get(address({ scope })));
      expectCode(await (await app.loggedIn(now.user)).get(address({ scope, prompt: 'none' })));
      expect(await scopes()).toEqual([scope, scope]);
    });

    it('needs consent with prompt=consent, and does not regain a declined scope', async () => {
      const browser = await app.loggedIn(now.user);
      const page = await browser.get(address({ scope, prompt: 'consent' }));
      expectConsentPage(page);
      await allow(browser, page);
      expectCode(await browser.get(address({ scope })));
      expect(await scopes()).toEqual(['profile:read', 'profile:read']);
    });
  });

  describe('Allow above the limit of live grants', () => {
    async function fill(count: number): Promise<void> {
      const { client, user } = now;
      await app.sql(
        `INSERT INTO grants (id, user_id, client_id, scope, requested_scope, lifetime, expires_at)
       SELECT rtrim(translate(encode(sha256(gen_random_uuid()::text::bytea), 'base64'), '+/', '-_'), '='), $1, $2,
              'profile:read', 'profile:read', interval '90 days', now() + interval '90 days'
       FROM generate_series(1, $3::integer)`,
        [user.id, client.clientId, count],
      );
    }

    async function grantIds(): Promise<string[]> {
      const rows = await app.sql<{ id: string }>(
        'SELECT id FROM grants WHERE client_id = $1 ORDER BY created_at',
        [now.client.clientId],
      );
      return rows.map(({ id }) => id);
    }

    it('revokes the oldest grant in PostgreSQL and Redis, and records the event', async () => {
      const browser = await consented();
      const [oldest = ''] = await grantIds();
      await fill(MAX_LIVE_GRANTS - 2);
      const allowAgain = async () =>
        expectCode(await allow(browser, await browser.get(address({ prompt: 'consent' }))));
      await allowAgain();
      expect(await stateOf(app, oldest)).toEqual([false, 'pending']);
      await allowAgain();
      expect(await stateOf(app, oldest)).toEqual([true, 'revoked']);
      const newest = (await grantIds()).at(-1) ?? '';
      expect(await stateOf(app, newest)).toEqual([false, 'pending']);
      const [revoked] = await auditEvents(
        app.services.natsUrl,
        { grantId: oldest, types: ['grant.revoked'] },
        1,
      );
      expect(revoked).toMatchObject({
        user_id: now.user.id,
        client_id: now.client.clientId,
        detail: { outcome: 'above the limit', limit: MAX_LIVE_GRANTS, replaced_by: newest },
      });
    });
  });
});

describe('resource consent', () => {
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
});
