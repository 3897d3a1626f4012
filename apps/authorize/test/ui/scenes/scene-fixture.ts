import { randomBytes } from 'node:crypto';
import type { Browser as Chromium, BrowserContext, BrowserContextOptions } from 'playwright-core';
import type { Client } from '#clients/client.js';
import type { NewClient } from '#clients/client.store.js';
import type { User } from '#users/user.js';
import { freePort } from '#local/servers/free-port.js';
import type { AuthorizeConfiguration } from '../../../src/configuration/authorize.configuration.js';
import { authorizeAddress, startAuthorizeApp } from '../../support/start-authorize-app.js';
import type { Browser } from '#test/support/browser.js';
import { freshAddress } from '../../support/throttle-guesser.js';

const ALL_SCOPES = ['profile:read', 'schedules:read', 'schedules:write', 'bookings:read', 'bookings:write'];

const LOGO = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAGAAAABgAgMAAACf9p+rAAAADFBMVEUOdJD///+65vAIUGYkYNHHAAAAUElEQVR42mNgGAWDEoQGgEjW0CEt8f///9B4' +
    'IPH/ayiQGEQSSGDoSoSigEEjEbZqadSqqVmrQletHEQS9PO5AwMOVw2QxGicD6r8MQpGEgAAkT6U0s6eD9MAAAAASUVORK5CYII=',
  'base64',
);

const LONG = {
  application:
    'Appointments, rooms and resources for the Donaudampfschifffahrtsgesellschaft and all its partners',
  host: 'a-rather-long-name-of-a-subdomain.donaudampfschifffahrtsgesellschaft.example',
  word: 'x'.repeat(100),
  person: 'Maximiliane Charlotte Friederike Wilhelmina von und zu Hohenlohe-Waldenburg-Schillingsfürst',
  email: 'maximiliane.charlotte.friederike.wilhelmina.von@mail.hohenlohe-waldenburg-schillingsfuerst.example',
} as const;

const linksOf = (host: string) => ({
  clientUri: `https://${host}/`,
  policyUri: `https://${host}/privacy`,
  contacts: [`support@${host}`],
});

export type Settings = Partial<AuthorizeConfiguration>;

export async function openSceneFixture(settings: Settings = {}) {
  const port = await freePort();
  const app = await startAuthorizeApp(
    { AUTH_URL: `http://127.0.0.1:${port}`, TRUSTED_PROXIES: 'loopback', ...settings },
    undefined,
    port,
  );

  async function client(registered: string, registration: Partial<NewClient>, host: string): Promise<Client> {
    const created = await app.client(
      { scopes: ALL_SCOPES, ...registration },
      registration.type === 'public' ? host : `https://${host}/callback`,
    );
    const values = [registered, created.clientId];
    await app.sql('UPDATE clients SET created_at = $1 WHERE client_id = $2', values);
    return created;
  }

  async function user(name: string, email: string): Promise<User> {
    const { id } = await app.user(name);
    const [username = ''] = email.split('@');
    const values = [email, username, id];
    await app.sql('UPDATE users SET email = $1, username = $2 WHERE id = $3', values);
    return { ...(await app.user(name)), id, email, username };
  }

  const logo = { mediaType: 'image/png', image: LOGO } as const;
  const choosable = ['schedules:write', 'bookings:read', 'bookings:write'];
  const clients = {
    calendar: await client(
      '2024-03-14',
      { name: 'Calendar Connect', logo, ...linksOf('calendar-connect.example') },
      'calendar-connect.example',
    ),
    rooms: await client(
      '2025-11-02',
      { name: 'Room Planner', optionalScopes: choosable },
      'app.room-planner.example',
    ),
    choosy: await client(
      '2025-11-02',
      { name: 'Team Reports', optionalScopes: ALL_SCOPES },
      'team-reports.example',
    ),
    own: await client(
      '2023-01-09',
      { name: 'Scheduling Desktop', firstParty: true },
      'desktop.scheduling.example',
    ),
    pocket: await client(
      '2026-02-20',
      { name: 'Pocket Calendar', type: 'public', deviceGrant: true },
      'com.example.pocket:/callback',
    ),
    long: await client(
      '2025-09-30',
      { name: LONG.application, optionalScopes: choosable, ...linksOf(LONG.host) },
      LONG.host,
    ),
    word: await client(
      '2025-09-30',
      { name: LONG.word, optionalScopes: choosable },
      `${'w'.repeat(60)}.example`,
    ),
    arabic: await client('2025-09-30', { name: 'تقويم' }, 'calendar.example'),
  };
  const people = {
    /** User without connected applications. */
    ada: await user('Ada Lovelace', 'ada@example.com'),
    /** User with connected applications. */
    grace: await user('Grace Hopper', 'grace.hopper@example.com'),
    long: await user(LONG.person, LONG.email),
    /** User who logs out everywhere. */
    alan: await user('Alan Turing', 'alan@example.com'),
    joan: await user('Joan Clarke', 'joan@example.com'),
  };
  await app.accounts.disable(people.joan.id);

  async function allowed(
    { id: userId }: User,
    { clientId }: Client,
    [on, used]: readonly [on: string, used: string | null],
    requestedScope: string,
    scope = requestedScope,
  ): Promise<void> {
    const id = randomBytes(32).toString('base64url');
    const expiresAt = new Date(Date.now() + 90 * 86_400_000);
    await app.records.create({ id, userId, clientId, scope, requestedScope, resources: null, expiresAt });
    const values = [on, used, id];
    await app.sql('UPDATE grants SET created_at = $1, last_used_on = $2 WHERE id = $3', values);
  }

  async function connect(): Promise<void> {
    const { calendar, rooms, own, long, word, arabic } = clients;
    await app.sql('DELETE FROM grants');
    await allowed(people.grace, calendar, ['2026-01-05', '2026-11-19'], 'profile:read bookings:read');
    const requested = 'profile:read schedules:read bookings:read';
    await allowed(people.grace, rooms, ['2026-08-21', null], requested, 'profile:read schedules:read');
    await allowed(people.grace, own, ['2025-12-24', '2026-11-20'], 'profile:read');
    await allowed(people.long, long, ['2026-01-05', '2026-11-19'], ALL_SCOPES.join(' '));
    await allowed(people.long, arabic, ['2026-01-05', null], 'profile:read');
    await allowed(people.long, word, ['2026-01-05', null], 'profile:read an:old:scope');
  }
  await connect();

  /** Sessions reused by scenes that do not end them. */
  const sessions = new Map<User, Promise<Browser>>();
  const sessionOf = (visitor: User): Promise<Browser> => {
    const session = visitor === people.alan ? undefined : sessions.get(visitor);
    if (session) return session;
    const started = app.loggedIn(visitor);
    sessions.set(visitor, started);
    return started;
  };

  async function enter(
    context: BrowserContext,
    visitor: User | null,
    headers: Record<string, string> = {},
  ): Promise<void> {
    await context.clearCookies();
    await context.setExtraHTTPHeaders({ 'X-Forwarded-For': freshAddress(), ...headers });
    if (visitor === null) return;
    const { cookies } = await sessionOf(visitor);
    await context.addCookies([...cookies].map(([name, value]) => ({ name, value, url: app.url })));
  }

  return {
    app,
    clients,
    people,
    connect,

    request: (
      { clientId, redirectUris: [redirect_uri] }: Client,
      scope: string,
      more: Record<string, string> = {},
    ): string =>
      app.url + authorizeAddress({ client_id: clientId, redirect_uri, scope, state: 'xyz', ...more }),

    async visit(
      chromium: Chromium,
      visitor: User | null,
      options: BrowserContextOptions = {},
    ): Promise<BrowserContext> {
      const context = await chromium.newContext(options);
      await enter(context, visitor, options.extraHTTPHeaders);
      return context;
    },

    /** Switches a browser context to another visitor, with a fresh address and no previous cookies. */
    enter,

    close: () => app.close(),
  };
}

export type SceneFixture = Awaited<ReturnType<typeof openSceneFixture>>;
