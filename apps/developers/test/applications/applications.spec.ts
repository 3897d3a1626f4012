import { type DevelopersApp, startDevelopersApp } from '../support/start-developers-app.js';

let portal: DevelopersApp;
beforeAll(async () => {
  portal = await startDevelopersApp();
});
afterAll(() => portal.close());

/** Approves the registration as an operator would. */
async function makeLive(clientId: string): Promise<void> {
  await portal.fixture.sql(`UPDATE clients SET stage = 'live' WHERE client_id = $1`, [clientId]);
  await portal.fixture.sql(
    `UPDATE client_requests SET status = 'approved', decided_at = now() WHERE client_id = $1`,
    [clientId],
  );
}

const CHANGE = {
  name: 'Room Finder',
  clientUri: 'https://rooms.example.com',
  policyUri: 'https://rooms.example.com/privacy',
  contacts: 'help@rooms.example.com',
  redirectUris: 'https://rooms.example.com/callback',
  scope: 'profile:read',
};

describe('the list', () => {
  it('has the applications and undecided requests of the user only', async () => {
    const [ada, grace] = [await portal.developer(), await portal.developer()];
    await portal.application(ada.browser, { name: 'Rooms of Ada' });
    await portal.postForm(ada.browser, '/requests', { name: 'A draft of Ada', action: 'save' });
    const own = await ada.browser.get('/');
    for (const text of ['Rooms of Ada', 'A draft of Ada', 'In testing', 'In review', 'Draft'])
      expect(own.text).toContain(text);
    const other = await grace.browser.get('/');
    expect(other.text).not.toContain('Ada');
    expect(other.text).toContain('You have no applications yet.');
  });
});

describe('the page of an application', () => {
  it('shows its registration, secrets and requests', async () => {
    const { browser } = await portal.developer();
    const id = await portal.application(browser);
    const { text } = await browser.get(`/applications/${id}`);
    for (const shown of [
      id,
      'https://rooms.example.com/callback',
      'Not used yet',
      'No users',
      'Registration',
    ])
      expect(text).toContain(shown);
  });

  it('escapes what owners write', async () => {
    const { browser } = await portal.developer();
    const id = await portal.application(browser, {
      name: 'Rooms & Halls',
      purpose: '<script>alert(1)</script>',
    });
    const request = /requests\/[0-9a-f-]{36}/.exec((await browser.get(`/applications/${id}`)).text)?.[0];
    const { text } = await browser.get(`/${request}`);
    expect(text).toContain('Rooms &amp; Halls');
    expect(text).not.toContain('<script>alert');
  });

  it('leads to the question of the reviewer', async () => {
    const { browser } = await portal.developer();
    const id = await portal.application(browser);
    await portal.fixture.sql(`UPDATE client_requests SET status = 'question' WHERE client_id = $1`, [id]);
    const { text } = await browser.get(`/applications/${id}`);
    expect(text).toMatch(
      /<p role="status">\s*<a href="\/requests\/[0-9a-f-]{36}">The reviewer has a question/,
    );
  });

  it('has the values of the application in the guide', async () => {
    const { browser } = await portal.developer();
    const id = await portal.application(browser);
    const { text } = await browser.get(`/applications/${id}/integrate`);
    expect(text).toContain(`client_id=${id}`);
    expect(text).toContain(`-u &quot;${id}:$CLIENT_SECRET&quot;`);
    for (const shown of ['/v2/me', '/oauth/revoke', 'grant_type=refresh_token', 'CHALLENGE=$('])
      expect(text).toContain(shown);
  });

  it('has no change of an application whose registration was rejected', async () => {
    const { browser } = await portal.developer();
    const id = await portal.application(browser);
    await portal.fixture.sql(
      `UPDATE client_requests SET status = 'rejected', decided_at = now() WHERE client_id = $1`,
      [id],
    );
    for (const page of [
      await browser.get(`/applications/${id}/change`),
      await portal.postForm(browser, `/applications/${id}/change`, { ...CHANGE, action: 'send' }),
    ])
      expect([page.status, page.text]).toEqual([
        409,
        expect.stringContaining('The registration was rejected.'),
      ]);
  });

  it('has the history, without hashes', async () => {
    const { browser } = await portal.developer();
    const id = await portal.application(browser);
    const { text } = await browser.get(`/applications/${id}/history`);
    for (const shown of ['Created', 'Client secrets: added', 'Owners: added', 'You'])
      expect(text).toContain(shown);
    expect(text).not.toMatch(/hash/);
    expect(text).not.toMatch(/<caption>\s*History/);
    expect((await browser.get(`/applications/${id}/history?before=1%27`)).status).toBe(200);
  });

  it('has in its history what was added to a list, and the state in the language of the page', async () => {
    const { browser } = await portal.developer();
    const id = await portal.application(browser);
    await portal.fixture.sql(
      `UPDATE clients SET stage = 'live', redirect_uris = redirect_uris || '{https://halls.example.com/}'
       WHERE client_id = $1`,
      [id],
    );
    const { text } = await browser.get(`/applications/${id}/history`);
    expect(text).toContain('<del><bdi>In testing</bdi></del>');
    expect(text).toContain('<ins><bdi>https://halls.example.com/</bdi></ins>');
    expect(text).not.toMatch(/<(?:del|ins)><bdi>https:\/\/rooms/);
  });
});

describe('secrets', () => {
  it('are shown once, expire as chosen, and can be revoked', async () => {
    const { browser } = await portal.developer();
    const id = await portal.application(browser);
    const created = await portal.postForm(browser, `/applications/${id}/secrets`, { days: '90' });
    const [secret = ''] = /scs_[\w-]{43}/.exec(created.text) ?? [];
    expect([created.status, secret]).toEqual([201, expect.stringContaining('scs_')]);
    const page = await browser.get(`/applications/${id}`);
    expect(page.text).not.toContain(secret);
    const revocations = [...page.text.matchAll(/secrets\/[0-9a-f-]{36}\/revoke/g)].map(([path]) => path);
    expect(revocations).toHaveLength(2);
    const third = await portal.postForm(browser, `/applications/${id}/secrets`, { days: '' });
    expect(third.status).toBe(409);
    await portal.postForm(browser, `/applications/${id}/${revocations[0]}`);
    const after = await browser.get(`/applications/${id}`);
    expect([...after.text.matchAll(/secrets\/[0-9a-f-]{36}\/revoke/g)]).toHaveLength(1);
    const rows = await portal.fixture.sql(
      `SELECT round(extract(epoch FROM expires_at - created_at) / 86400)::integer AS days FROM client_secrets
       WHERE client_id = $1 AND revoked_at IS NULL`,
      [id],
    );
    expect(rows).toEqual([{ days: 90 }]);
  });

  it('need a login within the last ten minutes', async () => {
    const { browser, userId } = await portal.developer();
    const id = await portal.application(browser);
    await portal.logIn(browser, userId, '/', { auth_time: Math.floor(Date.now() / 1000) - 601 });
    for (const page of ['secrets/new', 'delete']) {
      const refused = await browser.get(`/applications/${id}/${page}`);
      expect(refused.headers['location']).toContain('again=');
    }
    const posted = await portal.postForm(browser, `/applications/${id}/secrets`, { days: '' });
    expect(posted.headers['location']).toContain('again=');
  });

  it('have the same page when the form is sent twice', async () => {
    const { browser } = await portal.developer();
    const id = await portal.application(browser);
    const form = await browser.get(`/applications/${id}/secrets/new`);
    const fields = Object.fromEntries(
      [...form.text.matchAll(/name="(csrf_token|form_id)" value="([^"]+)"/g)]
        .slice(-2)
        .map(([, name = '', value = '']) => [name, value]),
    );
    const [one, other] = [
      await browser.post(`/applications/${id}/secrets`, { ...fields, days: '' }),
      await browser.post(`/applications/${id}/secrets`, { ...fields, days: '' }),
    ];
    const secretOf = (text: string) => /scs_[\w-]{43}/.exec(text)?.[0];
    expect(secretOf(one.text)).toBeDefined();
    expect(secretOf(other.text)).toBe(secretOf(one.text));
    expect(other.text).toContain('You sent this form again');
  });
});

describe('a change of a live application', () => {
  it('is shown as a difference first, and changes nothing', async () => {
    const { browser } = await portal.developer();
    const id = await portal.application(browser);
    await makeLive(id);
    const path = `/applications/${id}/change`;
    const reviewed = await portal.postForm(browser, path, { ...CHANGE, name: 'Hall Finder' });
    expect(reviewed.text).toContain('<ins><bdi>Hall Finder</bdi></ins>');
    expect((await browser.get(`/applications/${id}`)).text).not.toContain('Hall Finder');
  });

  it('of the contact takes effect immediately', async () => {
    const { browser } = await portal.developer();
    const id = await portal.application(browser);
    await makeLive(id);
    const sent = { ...CHANGE, contacts: 'new@rooms.example.com', action: 'send' };
    const done = await portal.postForm(browser, `/applications/${id}/change`, sent);
    expect(done.headers['location']).toBe(`/applications/${id}?note=applied`);
    expect((await browser.get(`/applications/${id}`)).text).toContain('new@rooms.example.com');
  });

  it('of the name is a request, while the application keeps its name', async () => {
    const { browser } = await portal.developer();
    const id = await portal.application(browser);
    await makeLive(id);
    const sent = { ...CHANGE, name: 'Hall Finder', purpose: 'Halls too.', action: 'send' };
    const done = await portal.postForm(browser, `/applications/${id}/change`, sent);
    expect(done.headers['location']).toBe(`/applications/${id}?note=proposed`);
    const { text } = await browser.get(`/applications/${id}`);
    expect(text).toContain('<h1><bdi>Room Finder</bdi></h1>');
    expect(text).toContain('In review');
  });

  it('has a reason, which is not a field of the application, and no terms', async () => {
    const { browser } = await portal.developer();
    const id = await portal.application(browser);
    await makeLive(id);
    const path = `/applications/${id}/change`;
    const form = await browser.get(path);
    expect(form.text).toContain('>Reason for the change</label>');
    expect(form.text).not.toContain('name="termsUri"');
    const unchanged = await portal.postForm(browser, path, { ...CHANGE, purpose: 'For nothing.' });
    expect(unchanged.text).toContain('Nothing is changed.');
  });

  it('with a problem shows it at its field', async () => {
    const { browser } = await portal.developer();
    const id = await portal.application(browser);
    await makeLive(id);
    const sent = { ...CHANGE, policyUri: 'http://rooms.example.com', action: 'send' };
    const refused = await portal.postForm(browser, `/applications/${id}/change`, sent);
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('id="policyUri-problem"');
  });
});

describe('a deletion', () => {
  it('removes the application from the list', async () => {
    const { browser } = await portal.developer();
    const id = await portal.application(browser);
    const deleted = await portal.postForm(browser, `/applications/${id}/delete`);
    expect(deleted.headers['location']).toBe('/?note=deleted');
    expect((await browser.get('/?note=deleted')).text).toContain('You have no applications yet.');
    expect((await browser.get(`/applications/${id}`)).status).toBe(404);
  });
});
