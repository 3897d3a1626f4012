import pg from 'pg';
import type { Response } from 'supertest';
import { formsOf } from '#local/demo/html-form.js';
import { auditEvents } from '#test/support/audit-trail.js';
import { blocked, until } from '#test/support/until.js';
import { type Browser, wordsOf } from '#test/support/browser.js';
import { FaultProxy } from '#test/support/fault-proxy.js';
import { JobStore } from '../../src/jobs/job.store.js';
import { type ConsoleApp, startConsoleApp } from '../support/start-console-app.js';
import { disableClients, storeClient } from '#test/support/stored.js';

let app: ConsoleApp;
let support: Browser;

beforeAll(async () => {
  // Roles are stored in PostgreSQL, so that tests can change them.
  app = await startConsoleApp({ CONSOLE_GROUPS_CLAIM: '', CONSOLE_ROLES: '' });
  support = await operator('support');
});

afterAll(() => app.close());

let users = 0;

async function operator(role: string, name = 'ada'): Promise<Browser> {
  const username = `operator${++users}`;
  const email = `${username}@example.com`;
  const { id } = await app.users.create({
    email,
    username,
    name,
    passwordHash: '$argon2id$nobody logs in with this',
  });
  await setRole(username, role);
  const browser = app.browser();
  await app.logIn(browser, { sub: String(id), preferred_username: username });
  return browser;
}

const setRole = (username: string, role: string | null) =>
  app.sql('UPDATE users SET console_role = $2 WHERE username = $1', [username, role]);

async function applications(count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, at) => `job_${++users}_${at}`);
  for (const id of ids) await storeClient(app, id);
  return ids;
}

/** Returns the versions of applications: 1 if unchanged, 2 if changed once. */
const versions = async (ids: readonly string[]): Promise<number[]> => {
  const rows = await app.sql<{ version: number }>(
    'SELECT version FROM clients WHERE client_id = ANY($1) ORDER BY array_position($1, client_id)',
    [ids],
  );
  return rows.map(({ version }) => version);
};

/** Selects entries of a list by its form. */
const check = async (browser: Browser, list: string, action: string, ids: readonly string[]) => {
  const form = formsOf((await browser.get(list)).text).find((one) => one.action === '/jobs/new');
  const body = new URLSearchParams({ ...form?.hidden, action });
  for (const id of ids) body.append('id', id);
  return browser.post('/jobs/new', body as unknown as Record<string, string>);
};

const select = (browser: Browser, action: string, ids: readonly string[]): Promise<Response> =>
  browser.get(
    `/jobs/new?${new URLSearchParams([['action', action], ...ids.map((id) => ['id', id])]).toString()}`,
  );

/** Submits the confirmation with every selected entry. */
const confirm = (browser: Browser, page: Response): Promise<Response> => {
  const fields = [...page.text.matchAll(/name="([^"]+)" value="([^"]*)"/g)].map(
    ([, name = '', value = '']) => [name, value],
  );
  const form = page.text.slice(page.text.indexOf('action="/jobs"'));
  const token = /name="csrf_token" value="([^"]+)"/.exec(form)?.[1] ?? '';
  const body = new URLSearchParams([
    ...fields.filter(([name]) => name !== 'csrf_token'),
    ['csrf_token', token],
  ]);
  return browser.post('/jobs', body as unknown as Record<string, string>);
};

const reaches = (browser: Browser, path: string, state: string): Promise<void> =>
  until(state, 60_000, async () => (await browser.get(path)).text.includes(`>${state}</span>`));

it('a job changes every selected application and records each change with the operator’s name', async () => {
  const ids = await applications(3);
  const page = await select(support, 'disable-applications', ids);
  expect(page.text).toContain('Disable 3 applications?');
  const { headers } = await confirm(support, page);
  await reaches(support, headers['location'] ?? '', 'finished');
  expect((await support.get(headers['location'] ?? '')).text).toContain('3 of 3 done, 0 failed');
  expect(await versions(ids)).toEqual([2, 2, 2]);
  for (const clientId of ids)
    expect(await auditEvents(app.services.natsUrl, { clientId }, 1)).toMatchObject([
      { type: 'client.disabled', operator: 'operator1', channel: 'page' },
    ]);
});

describe('a selection in a list', () => {
  const longIds = Array.from(
    { length: 50 },
    (_, at) => `https://a${at}.example.com/${'long/'.repeat(45)}client`,
  );

  beforeAll(async () => {
    for (const id of longIds) await storeClient(app, id, { name: 'Long address' });
  });

  it('becomes a job even if it exceeds the limits of a URL', async () => {
    const page = await check(support, '/applications?search=long+address', 'disable-applications', longIds);
    expect(wordsOf(page)).toContain('Disable 50 applications?');
    expect(page.text).toContain('href="/applications?search=long+address"');
    const { headers } = await confirm(support, page);
    await reaches(support, headers['location'] ?? '', 'finished');
    expect(await versions(longIds)).toEqual(longIds.map(() => 2));
  });

  it('is kept during a login, at a URL that every proxy accepts', async () => {
    const browser = await operator('support');
    app.clock.ahead = 11 * 60_000;
    const late = await check(browser, '/applications?search=long+address', 'enable-applications', longIds);
    const login = late.headers['location'] ?? '';
    expect(login).toMatch(/^\/login\?.{1,200}$/);
    const page = new URL(login, app.configuration.CONSOLE_URL).searchParams.get('page') ?? '';
    const username = `operator${users}`;
    const [{ sub } = { sub: '' }] = await app.sql<{ sub: string }>(
      'SELECT id::text AS sub FROM users WHERE username = $1',
      [username],
    );
    await app.logIn(browser, { sub, preferred_username: username }, page);
    expect(wordsOf(await browser.get(page))).toContain('Enable 50 applications?');
    app.clock.ahead = 0;
  });

  it.each(['abc', '1.5', '1e400', '-1', '2147483648', '99999999999'])(
    'does not fail for the malformed user id %s',
    async (id) => {
      for (const action of ['disable-users', 'log-out-users'])
        expect((await check(support, '/users', action, [id])).status).toBe(200);
    },
  );
});

describe('a selection of everything that matches', () => {
  const named = async (count: number, name: string): Promise<string[]> => {
    const ids = await applications(count);
    await app.sql('UPDATE clients SET name = $1 WHERE client_id = ANY($2)', [name, ids]);
    return ids;
  };

  it('is offered with its count, and becomes one job over more than a page', async () => {
    const ids = await named(60, 'Everywhere');
    await disableClients(app, ids[7] ?? '');
    const list = await support.get('/applications?search=+everywhere&state=enabled');
    expect(list.text.match(/name="id"/g)).toHaveLength(50);
    expect(wordsOf(list)).toContain('Select all 59 that match');
    const page = await support.get(
      '/jobs/new?action=disable-applications&all=1&search=everywhere&state=enabled&id=job_1_0',
    );
    expect(wordsOf(page)).toContain('Disable 59 applications?');
    const { headers } = await confirm(support, page);
    await reaches(support, headers['location'] ?? '', 'finished');
    expect(await versions(ids)).toEqual(ids.map((_, at) => (at === 7 ? 1 : 2)));
  });

  it('is confirmed again if another number of entries matches when the operator confirms', async () => {
    const ids = await named(2, 'Moving target');
    const page = await support.get('/jobs/new?action=disable-applications&all=1&search=moving');
    ids.push(...(await named(1, 'Moving target')));
    const again = await confirm(support, page);
    expect(again.status).toBe(409);
    expect(await versions(ids)).toEqual([1, 1, 1]);
    expect(wordsOf(again)).toContain('Disable 3 applications?');
    await reaches(support, (await confirm(support, again)).headers['location'] ?? '', 'finished');
    expect(await versions(ids)).toEqual([2, 2, 2]);
  });

  it('returns to the list with its search, filter and position when the operator cancels', async () => {
    const list =
      '/applications?search=everywhere&state=disabled&kind=public&cursor=a1790000000000000.job_1_0';
    for (const selected of ['all=1', 'id=job_1_0']) {
      const page = await support.get(
        `/jobs/new?action=disable-applications&${selected}&${list.split('?')[1] ?? ''}`,
      );
      expect(page.text).toContain(`href="${list.replaceAll('&', '&amp;')}"`);
    }
  });

  it('is refused if nothing or too much matches', async () => {
    const nothing = await support.get('/jobs/new?action=disable-users&all=1&search=nobody-at-all');
    expect(nothing.status).toBe(400);
    expect(nothing.text).toContain('href="/users?search=nobody-at-all"');
    await app.sql(
      `INSERT INTO users (username, email, name, password_hash) SELECT 'crowd' || n, 'crowd' || n || '@example.com', 'Crowd', '$argon2id$x'
       FROM generate_series(1, 10001) n`,
    );
    expect((await support.get('/jobs/new?action=disable-users&all=1&search=crowd')).status).toBe(400);
    expect((await support.get('/jobs/new?action=disable-users&all=1&search=crowd9')).status).toBe(200);
  });

  it('requires the role and a recent login', async () => {
    const path = '/jobs/new?action=disable-users&all=1&search=crowd9';
    expect((await (await operator('viewer')).get(path)).status).toBe(403);
    app.clock.ahead = 11 * 60_000;
    const late = await support.get(path);
    app.clock.ahead = 0;
    expect(late.status).toBe(303);
    expect(late.headers['location']).toContain(encodeURIComponent('all=1&search=crowd9'));
  });
});

it('two concurrent clicks start only one job', async () => {
  const ids = await applications(2);
  const page = await select(support, 'disable-applications', ids);
  const answers = await Promise.all([confirm(support, page), confirm(support, page)]);
  const [first, second] = answers.map(({ headers }) => headers['location'] ?? '');
  expect(first).toMatch(/^\/jobs\/.{22}$/);
  expect(second).toBe(first);
  await reaches(support, first ?? '', 'finished');
  expect((await support.get(first ?? '')).text).toContain('2 of 2 done, 0 failed');
  expect(await versions(ids)).toEqual([2, 2]);
});

it('the list of jobs and the keys of a job expire after seven days', async () => {
  const { headers } = await confirm(
    support,
    await select(support, 'disable-applications', await applications(1)),
  );
  await reaches(support, headers['location'] ?? '', 'finished');
  const keys = await app.redis.keys('console:job*');
  expect(keys).toContain('console:jobs');
  for (const key of keys) {
    const left = await app.redis.ttl(key);
    expect({ key, expires: left > 6 * 86_400 && left <= 7 * 86_400 }).toEqual({ key, expires: true });
  }
});

/** Turns an application into an API client. @returns the new id */
async function asApiClient(id: string): Promise<string> {
  await app.sql('DELETE FROM client_history WHERE client_id = $1', [id]);
  await app.sql(
    `UPDATE clients SET client_id = 'sc_' || client_id, type = 'confidential', grant_type = 'client_credentials', redirect_uris = '{}', require_state = false,
       scopes = '{admin:write}', jwks_uri = 'https://terraform.example.com/jwks' WHERE client_id = $1`,
    [id],
  );
  return `sc_${id}`;
}

it.each(['disable-users', 'log-out-users'])(
  'a job of an operator with the support role does not %s an admin',
  async (action) => {
    await operator('admin');
    const [row] = await app.sql<{ id: number }>('SELECT id FROM users WHERE username = $1', [
      `operator${users}`,
    ]);
    const page = await check(support, '/users', action, [String(row?.id)]);
    const { headers } = await confirm(support, page);
    await reaches(support, headers['location'] ?? '', 'finished');
    const { text } = await support.get(headers['location'] ?? '');
    expect(text).toContain('0 of 1 done, 1 failed');
    expect(text).toContain('only an admin may change a user');
  },
);

it('a job of an operator with the support role does not enable an API client', async () => {
  const ids = await applications(2);
  await disableClients(app, ...ids);
  ids[0] = await asApiClient(ids[0] ?? '');
  const enable = async (browser: Browser) => {
    const { headers } = await confirm(browser, await select(browser, 'enable-applications', ids));
    await reaches(browser, headers['location'] ?? '', 'finished');
    return browser.get(headers['location'] ?? '');
  };
  const refused = await enable(support);
  expect(refused.text).toContain('1 of 2 done, 1 failed');
  expect(refused.text).toContain('only an admin may change an API client');
  const path = `/applications/${ids[0]}/enable`;
  const page = await support.get(`/applications/${ids[0]}`);
  expect(page.text).not.toContain(path);
  expect(wordsOf(page)).toContain('Only an admin can disable or enable an API client');
  expect((await app.postForm(support, path)).status).toBe(403);
  expect((await enable(await operator('admin'))).text).toContain('2 of 2 done, 0 failed');
});

describe('a job whose process was killed', () => {
  it('can be continued without repeating or skipping an item', async () => {
    const ids = await applications(3);
    const [first = ''] = ids;
    const jobs = new JobStore(app.redis);
    const job = {
      id: 'k'.repeat(22),
      action: 'disable-applications',
      operator: 'grace',
      items: ids,
      total: 3,
    };
    await jobs.create(job);
    await jobs.claim(job.id, 'killed', 'grace');
    await jobs.next(job.id, 'killed');
    await jobs.advance(job.id, 'killed', first, { done: 1, more: false, failure: null, warnings: [] });
    expect((await support.get(`/jobs/${job.id}`)).text).toContain('>running</span>');

    await app.redis.hset(`console:job:{${job.id}}`, 'lease', 0);
    const page = await support.get(`/jobs/${job.id}`);
    expect(page.text).toContain('>interrupted</span>');
    expect(page.headers).not.toHaveProperty('refresh');
    await Promise.all([1, 2].map(() => support.submit(page, {}, `/jobs/${job.id}`)));
    await reaches(support, `/jobs/${job.id}`, 'finished');
    expect(await versions(ids)).toEqual([1, 2, 2]);
  });

  it('ignores a process that has lost its lease', async () => {
    const jobs = new JobStore(app.redis);
    const job = {
      id: 'l'.repeat(22),
      action: 'disable-applications',
      operator: 'grace',
      items: ['a', 'b'],
      total: 2,
    };
    await jobs.create(job);
    await jobs.claim(job.id, 'slow', 'grace');
    expect(await jobs.claim(job.id, 'other', 'grace')).toBe(false);
    await app.redis.hset(`console:job:{${job.id}}`, 'lease', 0);
    expect(await jobs.claim(job.id, 'other', 'grace')).toBe(true);
    await jobs.advance(job.id, 'slow', 'a', { done: 1, more: false, failure: null, warnings: [] });
    await jobs.leave(job.id, 'slow', 'refused');
    expect(await jobs.next(job.id, 'slow')).toBeNull();
    expect(await jobs.find(job.id)).toMatchObject({ state: 'running', done: 0 });
  });
});

it('a stopped job continues only after a login within the last ten minutes', async () => {
  const [id = ''] = await applications(1);
  const jobs = new JobStore(app.redis);
  const job = { id: 's'.repeat(22), action: 'disable-applications', operator: 'ada', items: [id], total: 1 };
  await jobs.create(job);
  await jobs.stop(job.id);
  const path = `/jobs/${job.id}`;
  const page = await support.get(path);
  app.clock.ahead = 11 * 60_000;
  const refused = await support.submit(page, {}, path);
  app.clock.ahead = 0;
  expect([refused.status, refused.headers['location']]).toEqual([
    303,
    `/login?page=${encodeURIComponent(path)}&again=`,
  ]);
  expect((await jobs.find(job.id))?.state).toBe('stopped');
});

describe('a running job', () => {
  /** Runs `work` while the job waits for the lock of the application. */
  async function whileBlockedAt(id: string, work: () => Promise<void>): Promise<void> {
    const other = new pg.Client({ connectionString: app.services.databaseUrl });
    await other.connect();
    await other.query('BEGIN');
    await other.query('SELECT 1 FROM oauth.clients WHERE client_id = $1 FOR UPDATE', [id]);
    try {
      await work();
    } finally {
      await other.query('COMMIT');
      await other.end();
    }
  }

  /** Resolves when the page shows `count` and the job, which has checked the role, waits for the lock of the next entry. */
  const doneIs = async (path: string, count: string): Promise<void> => {
    await until(count, 60_000, async () => (await support.get(path)).text.includes(count));
    await blocked(app);
  };

  it('ends when its operator loses the role, and can be continued by another operator', async () => {
    const ids = await applications(3);
    const browser = await operator('support');
    const name = `operator${users}`;
    let path = '';
    await whileBlockedAt(ids[1] ?? '', async () => {
      path =
        (await confirm(browser, await select(browser, 'disable-applications', ids))).headers['location'] ??
        '';
      await doneIs(path, '1 of 3 done');
      await setRole(name, null);
    });
    await reaches(support, path, 'ended');
    expect(await versions(ids)).toEqual([2, 2, 1]);
    await support.submit(await support.get(path), {}, path);
    await reaches(support, path, 'finished');
    expect(await versions(ids)).toEqual([2, 2, 2]);
  });

  it('checks the current role of its operator for each item', async () => {
    const ids = await applications(3);
    await disableClients(app, ...ids);
    ids[2] = await asApiClient(ids[2] ?? '');
    const browser = await operator('admin');
    const name = `operator${users}`;
    let path = '';
    await whileBlockedAt(ids[1] ?? '', async () => {
      path =
        (await confirm(browser, await select(browser, 'enable-applications', ids))).headers['location'] ?? '';
      await doneIs(path, '1 of 3 done');
      await setRole(name, 'support');
    });
    await reaches(support, path, 'finished');
    const { text } = await support.get(path);
    expect(text).toContain('2 of 3 done, 1 failed');
    expect(text).toContain('only an admin may change an API client');
  });

  it('is shown to every operator and can be stopped', async () => {
    const ids = await applications(3);
    const viewer = await operator('viewer');
    let path = '';
    await whileBlockedAt(ids[1] ?? '', async () => {
      path =
        (await confirm(support, await select(support, 'disable-applications', ids))).headers['location'] ??
        '';
      await doneIs(path, '1 of 3 done');
      const page = await viewer.get(path);
      expect(page.text).toMatch(/<progress[^>]*max="3"[^>]*value="1"/);
      expect(page.headers['refresh']).toBe('3');
      expect((await viewer.get(`${path}?refresh=off`)).headers).not.toHaveProperty('refresh');
      expect(page.text).not.toContain('/stop');
      expect((await viewer.get('/jobs')).text).toContain(`href="${path}"`);
      await support.submit(await support.get(path), {}, `${path}/stop`);
    });
    await reaches(viewer, path, 'stopped');
    await until('the step that ran', 60_000, async () => (await versions(ids))[1] === 2);
    expect(await versions(ids)).toEqual([2, 2, 1]);
  });
});

it('a job records why an application cannot be changed, and changes the others', async () => {
  const [gone = '', kept = ''] = await applications(2);
  const page = await select(support, 'enable-applications', [gone, kept]);
  await app.sql('DELETE FROM clients WHERE client_id = $1', [gone]);
  const path = (await confirm(support, page)).headers['location'] ?? '';
  await reaches(support, path, 'finished');
  const { text } = await support.get(path);
  expect(text).toContain('1 of 2 done, 1 failed');
  expect(text).toContain('there is no client');
  expect(text).toContain(`href="/jobs/new?retry=${path.slice('/jobs/'.length)}"`);
  const retry = await support.get(`/jobs/new?retry=${path.slice('/jobs/'.length)}`);
  expect(wordsOf(retry)).toContain(`Enable one application? ${gone}`);
  const again = (await confirm(support, retry)).headers['location'] ?? '';
  await reaches(support, again, 'finished');
  expect((await support.get(again)).text).toContain('0 of 1 done, 1 failed');
});

it('a retry selects every failed entry, also those that the page of the job does not show', async () => {
  const jobs = new JobStore(app.redis);
  const items = Array.from({ length: 101 }, (_, at) => `failed_${at}`);
  const job = { id: 'f'.repeat(22), action: 'enable-applications', operator: 'ada', items, total: 101 };
  await jobs.create(job);
  await jobs.claim(job.id, 'own', 'ada');
  for (const item of items)
    await jobs.advance(job.id, 'own', item, { done: 0, more: false, failure: 'no', warnings: [] });
  await jobs.next(job.id, 'own');
  const retry = await support.get(`/jobs/new?retry=${job.id}`);
  expect(wordsOf(retry)).toContain('Enable 101 applications?');
});

it('a job shows only one warning that running services were not informed of the changes', async () => {
  const nats = await FaultProxy.start(app.services.natsUrl);
  const other = await startConsoleApp(
    { NATS_URL: nats.url, AUDIT_NATS_URL: app.services.natsUrl },
    app.services,
  );
  const browser = await other.operator('support');
  const page = await select(browser, 'disable-applications', await applications(2));
  nats.disconnect();
  const path = (await confirm(browser, page)).headers['location'] ?? '';
  await reaches(browser, path, 'finished');
  const words = wordsOf(await browser.get(path));
  expect(words).toContain('2 of 2 done, 0 failed');
  expect(words.split('running services may take 30 s to notice the change')).toHaveLength(2);
  await other.close();
  await nats.close();
});

it('a job requires the support role, a recent login and a selection', async () => {
  const [id = ''] = await applications(1);
  const viewer = await operator('viewer');
  expect((await select(viewer, 'disable-applications', [id])).status).toBe(403);
  expect((await viewer.get('/applications')).text).not.toContain('/jobs/new');
  expect((await viewer.post('/jobs', {})).status).toBe(403);
  expect((await support.get('/jobs/new?action=disable-applications')).status).toBe(400);
  expect((await support.get(`/jobs/new?action=delete&id=${id}`)).status).toBe(400);
  app.clock.ahead = 11 * 60_000;
  expect((await select(support, 'disable-applications', [id])).headers['location']).toContain('again=');
  app.clock.ahead = 0;
});
