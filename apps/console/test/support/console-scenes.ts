import { randomBytes } from 'node:crypto';
import { connect } from '@nats-io/transport-node';
import type { Page } from 'playwright-core';
import { auditEvent, type AuditRecord } from '#audit/event.js';
import { storeEvent } from '#audit/streams.js';
import { freePort } from '#local/servers/free-port.js';
import { natsOptions } from '#messaging/nats.connection.js';
import { startApp } from '#test/support/app-process.js';
import { appSettings } from '#test/support/app-settings.js';
import { ClientKey } from '#test/support/keys.js';
import { type Browser, targetOf } from '#test/support/browser.js';
import { openFixture } from '#test/support/fixture.js';
import { isolate } from '#test/support/isolate.js';
import type { Role } from '../../src/role.js';
import { startConsoleApp } from './start-console-app.js';
import { storeRequest } from './stored-request.js';
import { disableClients, storeApiClient } from '#test/support/stored.js';

/** Opens a page of the console in a certain state. */
type Scene = (page: Page) => Promise<void>;

const REDIRECT_URI = 'https://rooms.example.com/oauth/callback';
const API_CLIENT = 'sc_apiclientapiclientapicli';
const NOT_ANNOUNCED = 'NATS (NATS_URL) does not answer: running services may take 30 s to notice the change';
const KEY_CLIENT = 'sc_keyclientkeyclientkeycli';
const LONG = 'sc_longlonglonglonglonglong';
const LONG_NAME =
  'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft, Room Finder'.slice(
    0,
    100,
  );
const REFUSED: AuditRecord = {
  type: 'request.refused',
  reference: 'scenescenesc',
  status: 400,
  error: 'invalid_grant',
  check: 'redirect_uri_mismatch',
  detail: { sent: `${REDIRECT_URI}/`, expected: REDIRECT_URI },
};

/** Starts a console with applications, users and events. @returns the scenes of its pages */
export async function openConsoleScenes() {
  const services = await isolate();
  const TOKEN_KEYS = randomBytes(32).toString('base64url');
  const settings = { ...appSettings(services), LOG_LEVEL: 'fatal', TOKEN_KEYS };
  const processes = [await startApp('authorize', settings), await startApp('token', settings)];
  const fixture = await openFixture(services, TOKEN_KEYS);
  const PORT = await freePort();
  const origin = `http://127.0.0.1:${PORT}`;
  const app = await startConsoleApp({ PORT, CONSOLE_URL: origin }, services);
  const STORED_PORT = await freePort();
  const storedOrigin = `http://127.0.0.1:${STORED_PORT}`;
  /** Console whose roles are stored. */
  const stored = await startConsoleApp(
    { PORT: STORED_PORT, CONSOLE_URL: storedOrigin, CONSOLE_GROUPS_CLAIM: '', CONSOLE_ROLES: '' },
    services,
  );

  const [client, disabled] = [await fixture.client(), await fixture.client()];
  const [id, userId] = [client.client_id, await fixture.user()];
  for (let count = 0; count < 2; count++) await fixture.code(id, userId);
  await disableClients(app, disabled.client_id);
  await storeApiClient(app, API_CLIENT);
  await app.sql(
    `INSERT INTO clients (client_id, name, type, redirect_uris, scopes, optional_scopes, client_uri, policy_uri, contacts)
     VALUES ($1, $2, 'confidential', $3, $4, '{bookings:read}', $5, $5, '{developers@a-rather-long-host-name.rooms.example.com}')`,
    [
      LONG,
      LONG_NAME,
      [REDIRECT_URI, `${REDIRECT_URI}/${'deeply/nested/'.repeat(12)}?tenant=${'x'.repeat(60)}`],
      ['profile:read', 'bookings:read', 'bookings:write', 'openid'],
      `https://rooms.example.com/${'about-this-application/'.repeat(6)}`,
    ],
  );
  const keys = [await ClientKey.generate('ES256', 'room-finder-2026-11'), await ClientKey.generate('RS256')];
  await app.sql(
    `INSERT INTO clients (client_id, name, type, redirect_uris, scopes, jwks)
     VALUES ($1, 'Room Finder', 'confidential', $2, '{profile:read}', $3)`,
    [KEY_CLIENT, [REDIRECT_URI], { keys: keys.map(({ jwk }) => jwk) }],
  );
  const { id: longUser } = await app.users.create({
    username: 'a-user-name-that-is-as-long-as-the-address-of-the-user',
    email: 'a-user-name-that-is-as-long-as-the-address-of-the-user@mail.rooms.example.com',
    name: 'Pablo Diego José Francisco de Paula Juan Nepomuceno María de los Remedios Ruiz y Picasso',
    passwordHash: '$argon2id$nobody logs in with this',
  });
  const { id: admin } = await app.users.create({
    username: 'barbara',
    email: 'barbara@example.com',
    name: 'Barbara Liskov',
    passwordHash: '$argon2id$nobody logs in with this',
  });
  await app.sql(`UPDATE users SET console_role = 'admin' WHERE id = $1`, [admin]);
  const requested = await storeRequest(app, { name: LONG_NAME });
  const nats = await connect(natsOptions(services.natsUrl, 'console scenes'));
  const store = (record: AuditRecord, time = new Date()) =>
    storeEvent(nats, auditEvent('token', { client_id: id, user_id: userId, ...record }, time));
  for (let hours = 20; hours > 0; hours--) {
    const time = new Date(Date.now() - hours * 3_600_000);
    await store({ type: 'token.issued' }, time);
    if (hours % 3 === 0)
      await store({ ...REFUSED, reference: `scene-${String(hours).padStart(6, '0')}` }, time);
  }
  await store({
    type: 'token.reuse_detected',
    error: 'invalid_grant',
    check: 'refresh_token_reused',
    reference: 'reusedreused',
  });
  await store(REFUSED);
  await nats.close();

  const path = `/applications/${id}`;
  const at =
    (address: string): Scene =>
    async (page) => {
      await page.goto(origin + address);
    };
  const press = async (page: Page, name: string) => {
    await page.locator('main').getByRole('button', { name, exact: true }).first().click();
    await page.waitForLoadState();
  };
  /** Answers the first three steps of a new application. */
  const newApplication = async (page: Page, redirectUri = REDIRECT_URI) => {
    await page.goto(`${origin}/applications/new`);
    await page.locator('[name=name]').fill('Room Finder');
    await press(page, 'Next');
    await press(page, 'Next');
    await page.locator('[name=redirectUris]').fill(redirectUri);
    await press(page, 'Next');
  };
  const edit = async (page: Page, field: string, value: string) => {
    await page.goto(`${origin}${path}/edit`);
    await page.locator(`[name=${field}]`).fill(value);
    await press(page, 'Review changes');
  };
  /** Deletes all secrets of the application except the first one. */
  const oneSecret = () =>
    app.sql(
      `DELETE FROM client_secrets WHERE client_id = $1
         AND id <> (SELECT id FROM client_secrets WHERE client_id = $1 ORDER BY created_at LIMIT 1)`,
      [id],
    );
  const newSecret = async (page: Page) => {
    await page.goto(`${origin}${path}/secrets/new`);
    await press(page, 'Create the secret');
  };
  const enter = async (page: Page, operator: Browser) => {
    await page.context().clearCookies();
    const cookies = [...operator.cookies].map(([name, value]) => ({ name, value, url: origin }));
    await page.context().addCookies(cookies);
  };
  const as =
    (role: Role, open: Scene): Scene =>
    async (page) => {
      await enter(page, await app.operator(role, 'grace'));
      await open(page);
    };
  const asViewer = (open: Scene) => as('viewer', open);
  /** Opens a page as the only admin whose role is stored. */
  const asStoredAdmin =
    (address: string, continueWith: Scene = async () => {}): Scene =>
    async (page) => {
      const browser = stored.browser();
      await stored.logIn(browser, { sub: String(admin), preferred_username: 'barbara' });
      await enter(page, browser);
      await page.goto(storedOrigin + address);
      await continueWith(page);
    };
  /** Stores a job in the given state, and opens its page. */
  const job =
    (
      fields: Record<string, string | number>,
      failures: readonly string[] = [],
      warnings: readonly string[] = [],
    ): Scene =>
    async (page) => {
      const key = randomBytes(16).toString('base64url');
      const started = Date.now() - 42_000;
      const base = {
        action: 'disable-applications',
        operator: 'ada',
        total: 120,
        done: 47,
        failed: failures.length,
      };
      await app.redis.hset(`console:job:{${key}}`, {
        ...base,
        started,
        state: 'running',
        lease: 0,
        ...('state' in fields && { ended: Date.now() }),
        ...fields,
      });
      for (const item of failures)
        await app.redis.rpush(
          `console:job:{${key}}:failures`,
          JSON.stringify({ item, reason: 'there is no such application' }),
        );
      if (warnings.length > 0) await app.redis.sadd(`console:job:{${key}}:warnings`, ...warnings);
      await app.redis.zadd('console:jobs', started, key);
      await page.goto(`${origin}/jobs/${key}?refresh=off`);
    };
  const tokenKeys = async (page: Page, keys: string) => {
    await page.goto(`${origin}/health/keys`);
    await page.locator('[name=tokenKeys]').fill(keys);
    await press(page, 'Next step');
  };
  /** Opens the login callback as an operator with this group. */
  const logIn = async (page: Page, group: string, more: Record<string, string> = {}) => {
    app.provider.state.forgery = { claims: { groups: [group], preferred_username: 'ada' } };
    await page.context().clearCookies();
    const started = await page.request.get(`${origin}/login`);
    const target = targetOf({ headers: started.headers(), text: await started.text() });
    await page.goto(origin + app.provider.answer(target, more));
  };

  const scenes: Readonly<Record<string, Scene>> = {
    overview: at('/'),
    applications: at('/applications'),
    'applications, none found': at('/applications?search=nobody'),
    application: at(path),
    'application, disabled': at(`/applications/${disabled.client_id}`),
    'application, an API client': at(`/applications/${API_CLIENT}`),
    'application, long': at(`/applications/${LONG}`),
    'application, long, edit': at(`/applications/${LONG}/edit`),
    'application, as a viewer': asViewer(at(path)),
    'application, just disabled': async (page) => {
      await app.sql('UPDATE clients SET disabled_at = NULL WHERE client_id = $1', [disabled.client_id]);
      await page.goto(`${origin}/applications/${disabled.client_id}/disable`);
      await press(page, 'Disable');
    },
    'application, edit': at(`${path}/edit`),
    'application, a disabled API client, as support': async (page) => {
      await disableClients(app, API_CLIENT);
      await as('support', at(`/applications/${API_CLIENT}`))(page);
      await app.sql('UPDATE clients SET disabled_at = NULL WHERE client_id = $1', [API_CLIENT]);
    },
    'application, edit an API client': at(`/applications/${API_CLIENT}/edit`),
    'application, edit refused': (page) =>
      edit(page, 'redirectUris', 'http://rooms.example.com/callback#fragment'),
    'application, no changes': (page) => edit(page, 'name', 'Calendar Connect'),
    'application, changes': (page) => edit(page, 'redirectUris', `${REDIRECT_URI}?a=1`),
    'application, saved': async (page) => {
      await edit(page, 'contacts', `dev${randomBytes(4).toString('hex')}@rooms.example.com`);
      await press(page, 'Save');
    },
    'application, conflict': async (page) => {
      await edit(page, 'contacts', `dev${randomBytes(4).toString('hex')}@rooms.example.com`);
      await app.sql('UPDATE clients SET version = version + 1 WHERE client_id = $1', [id]);
      await press(page, 'Save');
    },
    'application, delete': at(`${path}/delete`),
    'application, new secret': at(`${path}/secrets/new`),
    'application, secret created': async (page) => {
      await oneSecret();
      await newSecret(page);
    },
    'application, third secret': async (page) => {
      await oneSecret();
      await newSecret(page);
      await newSecret(page);
    },
    'application, two secrets': async (page) => {
      await oneSecret();
      await newSecret(page);
      await page.goto(origin + path);
    },
    'application, keys': at(`/applications/${KEY_CLIENT}/keys`),
    'application, keys refused': async (page) => {
      await page.goto(`${origin}/applications/${KEY_CLIENT}/keys`);
      await page.locator('[name=addKeys]').fill('not-a-key');
      await press(page, 'Add');
    },
    'application, keys at a URL': at(`/applications/${API_CLIENT}/keys`),
    'application, key to remove': async (page) => {
      await page.goto(`${origin}/applications/${KEY_CLIENT}/keys`);
      await page.locator('main').getByRole('link', { name: 'Remove' }).first().click();
      await page.waitForLoadState();
    },
    'application, logo': at(`${path}/logo`),
    'application, text for the owner': at(`${path}/handover`),
    'application, consent page': at(`${path}/consent`),
    'application, consent page in Arabic': at(`${path}/consent?language=ar`),
    'application, unknown': at('/applications/nobody'),
    'address without a page': at('/nothing'),
    'new application': at('/applications/new'),
    'new application, as a viewer': asViewer(at('/applications/new')),
    'new application, where it runs': async (page) => {
      await page.goto(`${origin}/applications/new`);
      await page.locator('[name=name]').fill('Room Finder');
      await press(page, 'Next');
    },
    'new application, addresses': async (page) => {
      await page.goto(`${origin}/applications/new`);
      await page.locator('[name=name]').fill('Room Finder');
      await press(page, 'Next');
      await press(page, 'Next');
    },
    'new application, problem': (page) => newApplication(page, 'http://rooms.example.com/callback'),
    'new application, permissions': (page) => newApplication(page),
    'new application, profile': async (page) => {
      await newApplication(page);
      await page.locator('select').first().selectOption('required');
      await press(page, 'Next');
    },
    'new application, summary': async (page) => {
      await newApplication(page);
      await page.locator('select').first().selectOption('required');
      await press(page, 'Next');
      await press(page, 'Next');
    },
    'new application, registered': async (page) => {
      await newApplication(page);
      await page.locator('select').first().selectOption('required');
      await press(page, 'Next');
      await press(page, 'Next');
      await press(page, 'Create the application');
    },
    requests: at('/requests'),
    request: at(`/requests/${requested.id}`),
    'request, as a viewer': asViewer(at(`/requests/${requested.id}`)),
    'request, approve': at(`/requests/${requested.id}/approve`),
    'request, question refused': async (page) => {
      await page.goto(`${origin}/requests/${requested.id}/ask`);
      await page.locator('textarea').fill('123');
      await press(page, 'Send');
    },
    users: at('/users'),
    'users, none found': at('/users?search=nobody'),
    'user, long': at(`/users/${longUser}`),
    'user, just disabled': async (page) => {
      await app.sql('UPDATE users SET operator_disabled_at = NULL WHERE id = $1', [longUser]);
      await page.goto(`${origin}/users/${longUser}/disable`);
      await press(page, 'Disable');
    },
    user: at(`/users/${userId}`),
    'user, a disabled operator, as support': async (page) => {
      const disable = `UPDATE users SET operator_disabled_at = now(), console_role = 'admin' WHERE id = $1`;
      await app.sql(disable, [longUser]);
      await as('support', at(`/users/${longUser}`))(page);
      const enable = 'UPDATE users SET operator_disabled_at = NULL, console_role = NULL WHERE id = $1';
      await app.sql(enable, [longUser]);
    },
    'user, delete': at(`/users/${userId}/delete`),
    operators: async (page) => {
      await app.sql(`UPDATE users SET console_role = 'viewer', operator_disabled_at = now() WHERE id = $1`, [
        longUser,
      ]);
      await asStoredAdmin('/operators')(page);
      await app.sql('UPDATE users SET console_role = NULL, operator_disabled_at = NULL WHERE id = $1', [
        longUser,
      ]);
    },
    'operators, roles of groups': at('/operators'),
    'operators, new': asStoredAdmin('/operators/new'),
    'operators, refused': asStoredAdmin('/operators/new', async (page) => {
      await page.locator('[name=login]').fill('nobody');
      await press(page, 'Grant the role');
    }),
    'operators, invited': asStoredAdmin('/operators/new', async (page) => {
      await page.locator('[name=email]').fill('a-user-name-that-is-long@mail.rooms.example.com');
      await press(page, 'Invite');
    }),
    'operators, invitations': asStoredAdmin('/operators'),
    operator: asStoredAdmin(`/operators/${admin}`),
    'operator, last admin': asStoredAdmin(`/operators/${admin}`, (page) => press(page, 'End the role')),
    'grants of an application': at(`/grants?client=${id}`),
    'bulk actions': at('/jobs'),
    'bulk action, confirmation': at(`/jobs/new?action=enable-applications&id=${id}&id=${disabled.client_id}`),
    'bulk action, revocation': at(`/jobs/new?action=revoke-grants&id=client=${id}`),
    'bulk action, nothing selected': at('/jobs/new?action=disable-users'),
    'bulk action, running': job({ lease: Date.now() + 3_600_000 }),
    'bulk action, interrupted': job({}),
    'bulk action, stopped': job({ state: 'stopped' }),
    'bulk action, failures': job({ state: 'finished', done: 118 }, [id, API_CLIENT]),
    'bulk action, warnings': job({ state: 'finished', done: 120 }, [], [NOT_ANNOUNCED]),
    'bulk action, done': async (page) => {
      await page.goto(`${origin}/jobs/new?action=log-out-users&id=${userId}`);
      await press(page, 'Log out');
      await page.getByText('finished', { exact: true }).waitFor();
    },
    'what happened': at('/events'),
    'what happened, explanation': at('/events?reference=scenescenesc'),
    'what happened, reuse': at('/events?reference=reusedreused'),
    'what happened, unknown reference': at('/events?reference=unknown-1234'),
    'what happened, by hour, numbers': async (page) => {
      await page.goto(`${origin}/events?client=${id}&period=23h`);
      await page.locator('summary').click();
    },
    'what happened, by hour': at(`/events?client=${id}&period=23h`),
    'what happened, by day': at(`/events?client=${id}&period=29d`),
    'what happened, unknown application': at('/events?client=nobody'),
    'what happened, nothing': at(`/events?client=${disabled.client_id}`),
    audit: at('/audit'),
    'audit, none': at('/audit?operator=nobody'),
    'audit, details': async (page) => {
      await page.goto(`${origin}/audit`);
      await page.locator('summary').first().click();
    },
    'audit, unknown application': at('/audit?client=nobody'),
    health: at('/health'),
    'health, checked': async (page) => {
      await page.goto(`${origin}/health`);
      await press(page, 'Check now');
      while ((await page.locator('main').innerText()).includes('A check is running'))
        await page.goto(`${origin}/health`);
    },
    keys: at('/health/keys'),
    'keys, step': (page) => tokenKeys(page, TOKEN_KEYS),
    'keys, refused': (page) => tokenKeys(page, 'not-a-key'),
    'login, refused': (page) => logIn(page, 'cleaners'),
    'login, cancelled': (page) => logIn(page, 'admins', { error: 'access_denied' }),
    'too many requests': async (page) => {
      await page.goto(`${origin}/users`);
      for (const key of await app.redis.keys('console:rate:*')) await app.redis.set(key, 1_000, 'PX', 60_000);
      await page.goto(`${origin}/users`);
    },
    'logged out': async (page) => {
      await page.goto(`${origin}/users`);
      await page.getByRole('navigation').getByRole('button').click();
      await page.waitForLoadState();
    },
  };

  return {
    scenes,

    /** Logs an admin in, in place of the operator of the scene before. */
    async logIn(page: Page): Promise<void> {
      await app.resetRateLimits();
      await enter(page, await app.operator('admin'));
    },

    async close(): Promise<void> {
      await stored.close();
      await app.close();
      for (const running of processes) await running.stop();
      await fixture.close();
      await services.close();
    },
  };
}

export type ConsoleScenes = Awaited<ReturnType<typeof openConsoleScenes>>;
