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
export async function fillOwners(
  { fixture }: Product,
  { clients, events }: Trail,
  owner: number,
): Promise<void> {
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
  const ids = Array.from({ length: clients }, (_, n) => clientId(n));
  // A join, because reading an element of an array of texts takes time in proportion to its position.
  const numbered = `generate_series(1, $2::integer) n JOIN unnest($1::text[]) WITH ORDINALITY AS given (client_id, at)
     ON at = CASE WHEN n % ${BUSY} = 0 THEN 1 ELSE 1 + (n::bigint * 7919) % ${clients} END`;
  await sql(
    `INSERT INTO client_history (client_id, at, action, changes)
     SELECT client_id, now() - interval '1 year' + n * interval '1 second', 'updated', '{"name": {"old": "a", "new": "b"}}'
     FROM ${numbered}`,
    [ids, events],
  );
  await sql(
    `INSERT INTO refused_requests (client_id, event, at, reference, cause, error, status, request, description, detail)
     SELECT client_id, 'e' || n, now() - interval '30 days' * random(), 'r' || n, 'code_expired', 'invalid_grant', 400,
       'POST /api/auth/oauth/token', '', '{}' FROM ${numbered}`,
    [ids, Math.ceil(events / 10)],
  );
  await sql('COMMIT');
  await sql(
    'VACUUM ANALYZE client_owners, client_requests, client_testers, client_history, refused_requests',
  );
}

export async function startPortal({
  environment,
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
    { ...environment, DEVELOPERS_URL: url, DEVELOPERS_CLIENT_ID: PORTAL, DEVELOPERS_CLIENT_SECRET: secret },
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
    'portal, errors by reference': `${application}/activity?reference=r10`,
    'portal, errors, nothing found': `${application}/activity?reference=nobody`,
    'portal, errors, old': `${application}/activity?until=${new Date(Date.now() - 20 * 86_400_000).toISOString().slice(0, 16)}`,
    'portal, try': `${application}/try`,
    'portal, change': `${application}/change`,
    'portal, owners and testers': `${application}/team`,
    'portal, leave': `${application}/team/owner/${owner}/remove`,
    'portal, new secret': `${application}/secrets/new`,
    'portal, delete': `${application}/delete`,
  };
}
