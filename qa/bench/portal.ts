import { generateClientSecret } from '#oauth/oauth-client.js';
import { freePort } from '#local/servers/free-port.js';
import { type AppProcess, startApp } from '#test/support/app-process.js';
import { Browser } from '#test/support/browser.js';
import { logInToPortal } from '../portal-login.js';
import { clientId, type Trail } from './console-fill.js';
import type { Product } from './product.js';

const PORTAL = 'sc_portal';
/** Applications of the measured owner. */
const OWNED = 200;
/** One in so many refused requests and changes belongs to the first application. */
const BUSY = 10;

/** Process with pages for users who log in. */
export interface Site {
  readonly app: AppProcess;
  logIn(): Promise<Browser>;
  close(): Promise<void>;
}

/** Stores an owner, a request and a history for each application. One application in a hundred waits for a review. */
export async function fillOwners(product: Product, { clients, events }: Trail, owner: number): Promise<void> {
  const { fixture } = product;
  const sql = (text: string, values: unknown[] = []) => fixture.sql(text, values);
  await sql('BEGIN');
  // Skips triggers and foreign keys, which are slow for many rows.
  await sql(`SET LOCAL session_replication_role = 'replica'`);
  await sql(
    `INSERT INTO client_owners (client_id, user_id)
     SELECT client_id, CASE WHEN n <= ${OWNED} THEN $1 ELSE $1 + n END
     FROM (SELECT client_id, row_number() OVER (ORDER BY created_at) AS n FROM clients WHERE client_id <> $2) numbered`,
    [owner, PORTAL],
  );
  await sql(
    `INSERT INTO client_requests (client_id, user_id, kind, status, content, submitted_at, decided_at)
     SELECT client_id, user_id, CASE WHEN isOpen THEN 'change' ELSE 'registration' END,
       CASE WHEN isOpen THEN 'submitted' ELSE 'approved' END,
       '{"name": "Rooms", "purpose": "Finds rooms.", "reasons": {}}', now(), CASE WHEN NOT isOpen THEN now() END
     FROM (SELECT *, row_number() OVER (ORDER BY client_id) % 100 = 1 AS isOpen FROM client_owners) owned`,
  );
  await sql(
    `INSERT INTO client_requests (user_id, kind, status, content)
     SELECT $1, 'registration', 'draft', '{"name": "Draft"}' FROM generate_series(1, 10)`,
    [owner],
  );
  await sql(
    `INSERT INTO client_testers (client_id, user_id) SELECT $2, $1 + n FROM generate_series(1, 10) n`,
    [owner, clientId(0)],
  );
  await sql(
    `INSERT INTO client_request_messages (request_id, author, name, text)
     SELECT id, 'operator', 'Grace', 'Why?' FROM client_requests WHERE client_id IS NOT NULL`,
  );
  await sql(
    `INSERT INTO client_secrets (client_id, hash)
     SELECT client_id, sha256(client_id::bytea) FROM clients WHERE type = 'confidential' AND client_id <> $1`,
    [PORTAL],
  );
  // Polled, so that no worker delivers the events.
  await sql(
    `INSERT INTO event_streams (client_id, delivery, events_requested)
     SELECT client_id, 'poll', '{}' FROM client_owners`,
  );
  const ids = Array.from({ length: clients }, (_, n) => clientId(n));
  // A join, because reading an element of an array of texts takes time in proportion to its position.
  const numbered = `generate_series(1, $2::integer) n JOIN unnest($1::text[]) WITH ORDINALITY AS given (client_id, at)
     ON at = CASE WHEN n % ${BUSY} = 0 THEN 1 ELSE 1 + (n::bigint * 7919) % ${clients} END`;
  // Large indexes are created after their rows, because that takes less time.
  const indexes = await largeIndexes(product);
  for (const { name } of indexes) await sql(`DROP INDEX ${name}`);
  await sql(
    `INSERT INTO client_history (client_id, at, action, changes)
     SELECT client_id, now() - interval '1 year' + n * interval '1 second', 'updated', '{"name": {"old": "a", "new": "b"}}'
     FROM ${numbered}`,
    [ids, events],
  );
  await sql(
    `INSERT INTO refused_requests (client_id, event, at, reference, cause, error, status, request, description, detail)
     SELECT client_id, 'e' || n, now() - interval '30 days' * random(), 'bench' || lpad(n::text, 7, '0'), 'code_expired', 'invalid_grant', 400,
       'POST /api/auth/oauth/token', '', '{}' FROM ${numbered}`,
    [ids, Math.ceil(events / 10)],
  );
  await sql(
    `INSERT INTO events (stream_id, type, txn, outcome, finished_at)
     SELECT id, 'session-revoked', gen_random_uuid(), 'delivered', now() FROM ${numbered} JOIN event_streams USING (client_id)`,
    [ids, Math.ceil(events / 10)],
  );
  for (const { definition } of indexes) await sql(definition);
  await sql('COMMIT');
  await sql(
    `VACUUM ANALYZE client_owners, client_requests, client_request_messages, client_testers, client_secrets, client_history,
       refused_requests, event_streams, events`,
  );
}

async function largeIndexes({ fixture }: Product): Promise<{ name: string; definition: string }[]> {
  return (await fixture.sql(
    `SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index
     WHERE indrelid IN ('client_history'::regclass, 'refused_requests'::regclass, 'events'::regclass) AND NOT indisprimary`,
  )) as { name: string; definition: string }[];
}

/** Stores counts in place of the console: for the first application of each hour, for the others of three hours. */
export async function fillCounts({ fixture }: Product, { clients, events }: Trail): Promise<void> {
  const ids = Array.from({ length: clients }, (_, n) => clientId(n));
  await fixture.sql(
    `INSERT INTO audit_counts (client_id, hour, type, "check", error, count, first_at, last_at, reference)
     SELECT client_id, hour, type, CASE type WHEN 'request.refused' THEN 'code_expired' ELSE '' END,
       CASE type WHEN 'request.refused' THEN 'invalid_grant' ELSE '' END, $2, hour, hour, NULL
     FROM unnest($1::text[]) WITH ORDINALITY AS given (client_id, at)
       CROSS JOIN LATERAL generate_series(CASE at WHEN 1 THEN 1 ELSE at % 240 END, 720, CASE at WHEN 1 THEN 1 ELSE 240 END) n
       CROSS JOIN unnest('{token.issued,token.refreshed,request.refused}'::text[]) type
       CROSS JOIN LATERAL (SELECT date_trunc('hour', now(), 'UTC') - n * interval '1 hour' AS hour) hours`,
    [ids, Math.ceil(events / clients / 30)],
  );
  await fixture.sql('VACUUM ANALYZE audit_counts');
}

export async function startPortal({
  environment,
  databaseUrls,
  fixture,
}: Product): Promise<Site & { readonly userId: number }> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const { secret, hash } = generateClientSecret();
  await fixture.clients.create({
    clientId: PORTAL,
    name: 'Developers',
    type: 'confidential',
    scopes: ['openid'],
    redirectUris: [`${url}/login/callback`],
    firstParty: true,
    developerPortal: true,
    secretHash: hash,
  });
  const app = await startApp(
    'developers',
    {
      ...environment,
      DATABASE_URL: databaseUrls.developers,
      DEVELOPERS_URL: url,
      DEVELOPERS_CLIENT_ID: PORTAL,
      DEVELOPERS_CLIENT_SECRET: secret,
    },
    { port, patient: false },
  );
  const userId = await fixture.user();
  return {
    app,
    userId,
    async logIn() {
      const { cookies } = await logInToPortal(fixture, { id: PORTAL, secret, url }, userId);
      const browser = new Browser(app.url);
      for (const cookie of cookies.split('; ')) {
        const [name = '', value = ''] = cookie.split('=');
        browser.cookies.set(name, value);
      }
      return browser;
    },
    close: () => app.stop(),
  };
}

export async function pagesOfPortal({ fixture }: Product, owner: number): Promise<Record<string, string>> {
  const application = `/applications/${clientId(0)}`;
  const [request] = (await fixture.sql('SELECT id FROM client_requests WHERE client_id = $1', [
    clientId(0),
  ])) as { id: string }[];
  const [refusal] = (await fixture.sql(
    `SELECT id FROM refused_requests WHERE client_id = $1 ORDER BY at LIMIT 1 OFFSET 100`,
    [clientId(0)],
  )) as { id: string }[];
  // The first application is public.
  const withSecret = `/applications/${clientId(1)}`;
  const [secret] = (await fixture.sql('SELECT id FROM client_secrets WHERE client_id = $1', [
    clientId(1),
  ])) as { id: string }[];
  const [event] = (await fixture.sql(
    'SELECT e.id FROM events e JOIN event_streams s ON s.id = e.stream_id WHERE client_id = $1 ORDER BY e.id OFFSET 100 LIMIT 1',
    [clientId(0)],
  )) as { id: string }[];
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 16);
  const [oldest] = (await fixture.sql(
    'SELECT id FROM client_history WHERE client_id = $1 ORDER BY id OFFSET 200 LIMIT 1',
    [clientId(0)],
  )) as { id: string }[];
  return {
    'portal, applications': '/',
    'portal, new application': '/requests/new',
    'portal, request': `/requests/${request?.id ?? ''}`,
    'portal, application': application,
    'portal, integrate': `${application}/integrate`,
    'portal, history': `${application}/history`,
    'portal, history, oldest': `${application}/history?before=${oldest?.id ?? ''}`,
    'portal, requests and errors': `${application}/activity`,
    'portal, errors by cause': `${application}/activity?cause=code_expired`,
    'portal, errors by reference': `${application}/activity?reference=bench${String(BUSY).padStart(7, '0')}`,
    'portal, errors, nothing found': `${application}/activity?reference=unknown-1234`,
    'portal, errors, old': `${application}/activity?until=${daysAgo(20)}`,
    'portal, errors, old, by cause': `${application}/activity?cause=code_expired&since=${daysAgo(25)}&until=${daysAgo(20)}`,
    'portal, errors, unknown cause': `${application}/activity?cause=code_replayed`,
    'portal, error': `${application}/activity/${refusal?.id ?? ''}`,
    'portal, events': `${application}/events`,
    'portal, events, oldest': `${application}/events?before=${event?.id ?? ''}`,
    'portal, try': `${application}/try`,
    'portal, change': `${application}/change`,
    'portal, owners and testers': `${application}/team`,
    'portal, leave': `${application}/team/owner/${owner}/remove`,
    'portal, new secret': `${withSecret}/secrets/new`,
    'portal, revoke secret': `${withSecret}/secrets/${secret?.id ?? ''}/revoke`,
    'portal, delete': `${application}/delete`,
  };
}
