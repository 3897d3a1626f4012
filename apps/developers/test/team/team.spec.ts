import { type DevelopersApp, startDevelopersApp } from '../support/start-developers-app.js';
import { OWNER_LIMITS } from '#clients/owners/owner-limits.statements.js';
import type { Browser } from '#test/support/browser.js';

let portal: DevelopersApp;
beforeAll(async () => {
  portal = await startDevelopersApp();
});
beforeEach(() => portal.resetRateLimits());
afterAll(() => portal.close());

/** @returns path of the link */
async function invite(browser: Browser, clientId: string, kind: string): Promise<string> {
  const page = await portal.postForm(browser, `/applications/${clientId}/invitations`, { kind });
  const [, link = ''] = /http:\/\/localhost:3005(\/invitation\?token=[\w-]{43})</.exec(page.text) ?? [];
  if (link === '') throw new Error(`no link: ${page.status}`);
  return link;
}

/** Opens the link, and accepts. */
async function accept(browser: Browser, link: string) {
  const opened = await browser.get(link);
  expect(opened.headers['location']).toBe('/invitation/accept');
  return portal.postForm(browser, '/invitation/accept', await shownInvitation(browser));
}

/** Opens the page of the invitation. @returns the field of its form that identifies the invitation */
async function shownInvitation(browser: Browser): Promise<Record<string, string>> {
  const { text } = await browser.get('/invitation/accept');
  const [, invitation] = /name="invitation" value="([^"]+)"/.exec(text) ?? [];
  return invitation === undefined ? {} : { invitation };
}

it('shows an empty list as quiet text, not as the result of a change', async () => {
  const { browser } = await portal.developer();
  const id = await portal.application(browser);
  const page = await browser.get(`/applications/${id}/team`);
  expect(page.text).toContain('<p class="quiet">There are no testers.</p>');
});

describe('an invitation', () => {
  it('makes one person an owner, once', async () => {
    const [ada, grace, eve] = [await portal.developer(), await portal.developer(), await portal.developer()];
    const id = await portal.application(ada.browser);
    const link = await invite(ada.browser, id, 'owner');
    const accepted = await accept(grace.browser, link);
    expect(accepted.text).toContain('You are now an owner of');
    expect((await grace.browser.get(`/applications/${id}`)).status).toBe(200);
    expect((await accept(eve.browser, link)).status).toBe(404);
    expect((await eve.browser.get(`/applications/${id}`)).status).toBe(404);
  });

  it('is refused for an address that mail programs read in different ways', async () => {
    const { browser } = await portal.developer();
    const id = await portal.application(browser);
    const path = `/applications/${id}/invitations`;
    for (const email of [
      '"a b"@example.com',
      '"a@b"@example.com',
      'a\u3000b@example.com',
      '"a"@example.com',
    ]) {
      const { status } = await portal.postForm(browser, path, { kind: 'owner', email });
      expect([email, status]).toEqual([email, 400]);
    }
    expect((await portal.postForm(browser, `${path}/malformed-id/revoke`)).status).toBe(400);
  });

  it('makes a tester, who does not see the application', async () => {
    const [ada, grace] = [await portal.developer(), await portal.developer()];
    const id = await portal.application(ada.browser);
    const accepted = await accept(grace.browser, await invite(ada.browser, id, 'tester'));
    expect(accepted.text).toContain('You can now test');
    expect((await grace.browser.get(`/applications/${id}`)).status).toBe(404);
    expect((await ada.browser.get(`/applications/${id}/team`)).text).toContain('Testers');
  });

  it('lets a tester see what the application is, and leave it, which ends its access', async () => {
    const [ada, grace] = [await portal.developer(), await portal.developer()];
    const id = await portal.application(ada.browser);
    const accepted = await accept(grace.browser, await invite(ada.browser, id, 'tester'));
    expect(accepted.text).toContain('The operator has not reviewed these applications.');
    const list = await grace.browser.get('/');
    expect(list.text).toContain('Applications that you test');
    expect(list.text).toContain('Room Finder');
    expect((await ada.browser.get('/')).text).not.toContain('Applications that you test');
    const path = `/tests/${id}/leave`;
    await portal.fixture.code(id, grace.userId, { scope: 'profile:read' });
    expect((await grace.browser.get(path)).text).toContain('Stop testing Room Finder?');
    expect((await portal.postForm(grace.browser, path)).headers['location']).toBe('/?note=changed');
    expect((await grace.browser.get('/')).text).not.toContain('Room Finder');
    expect((await portal.postForm(grace.browser, path)).status).toBe(404);
    const grants = await portal.fixture.sql(
      'SELECT revoked_at IS NULL AS live FROM grants WHERE client_id = $1 AND user_id = $2',
      [id, grace.userId],
    );
    expect(grants).toEqual([{ live: false }]);
  });

  it.each([
    ['owner', 'to manage <bdi>Room Finder</bdi> as one of its owners'],
    ['tester', 'to test <bdi>Room Finder</bdi> before it is approved'],
  ])('shows its application, role and inviter before a user accepts to be %s', async (kind, text) => {
    const [ada, grace] = [await portal.developer(), await portal.developer()];
    const id = await portal.application(ada.browser);
    await portal.fixture.sql(`UPDATE users SET name = 'Ada <b>Lovelace' WHERE id = $1`, [ada.userId]);
    await grace.browser.get(await invite(ada.browser, id, kind));
    const page = await grace.browser.get('/invitation/accept');
    expect(page.text).toContain(`<bdi>Ada &lt;b&gt;Lovelace</bdi> invites you ${text}.`);
    expect(page.text).not.toContain(id);
  });

  it('is not accepted by the form of another invitation, whose page the user sees', async () => {
    const [ada, grace] = [await portal.developer(), await portal.developer()];
    const [first, second] = [await portal.application(ada.browser), await portal.application(ada.browser)];
    await grace.browser.get(await invite(ada.browser, first, 'owner'));
    const shown = await shownInvitation(grace.browser);
    await grace.browser.get(await invite(ada.browser, second, 'tester'));
    const page = await portal.postForm(grace.browser, '/invitation/accept', shown);
    expect(page.text).toContain('to test <bdi>Room Finder</bdi> before it is approved');
    expect((await grace.browser.get('/')).text).not.toContain('Applications that you test');
    const accepted = await portal.postForm(
      grace.browser,
      '/invitation/accept',
      await shownInvitation(grace.browser),
    );
    expect(accepted.text).toContain('You can now test');
  });

  it('has one page for no token, and for unknown, used, revoked and expired ones', async () => {
    const [ada, grace] = [await portal.developer(), await portal.developer()];
    const id = await portal.application(ada.browser);
    const used = await invite(ada.browser, id, 'tester');
    await accept(grace.browser, used);
    const revoked = await invite(ada.browser, id, 'tester');
    const { text: team } = await ada.browser.get(`/applications/${id}/team`);
    const [path = ''] = /\/applications\/[^"]+\/invitations\/[^"]+\/revoke/.exec(team) ?? [];
    await portal.postForm(ada.browser, path);
    const expired = await invite(ada.browser, id, 'tester');
    await portal.fixture.sql('UPDATE client_invitations SET expires_at = now() WHERE client_id = $1', [id]);
    const shown: unknown[][] = [];
    // One after the other: the login provider has the claims of one login at a time.
    for (const each of [null, `/invitation?token=${'A'.repeat(43)}`, used, revoked, expired]) {
      const { browser } = await portal.developer();
      if (each !== null) await browser.get(each);
      const { status, text } = await browser.get('/invitation/accept');
      shown.push([status, /<h1>.*<\/h1>/s.exec(text)?.[0], /<p role="alert">.*?<\/p>/.exec(text)?.[0]]);
    }
    const page = [
      404,
      '<h1>This invitation is no longer valid</h1>',
      '<p role="alert">It was used or withdrawn, or it has expired. The person who sent it can send a new one.</p>',
    ];
    expect(shown).toEqual([page, page, page, page, page]);
  });

  it('is unknown after its expiry even if the application has as many testers as it may have', async () => {
    const [ada, grace] = [await portal.developer(), await portal.developer()];
    const id = await portal.application(ada.browser);
    await grace.browser.get(await invite(ada.browser, id, 'tester'));
    const shown = await shownInvitation(grace.browser);
    await portal.fixture.sql('UPDATE client_invitations SET expires_at = now() WHERE client_id = $1', [id]);
    for (let n = 0; n < OWNER_LIMITS.testers; n += 1)
      await portal.fixture.sql('INSERT INTO client_testers (client_id, user_id) VALUES ($1, $2)', [
        id,
        await portal.fixture.user(),
      ]);
    expect((await portal.postForm(grace.browser, '/invitation/accept', shown)).status).toBe(404);
  });

  it('is refused by mail above the limit with a text that says which', async () => {
    const { browser } = await portal.developer();
    const id = await portal.application(browser);
    const fields = { kind: 'owner', email: 'linus@example.com' };
    for (let sent = 0; sent < 5; sent += 1)
      await portal.postForm(browser, `/applications/${id}/invitations`, fields);
    const refused = await portal.postForm(browser, `/applications/${id}/invitations`, fields);
    expect(refused.status).toBe(409);
    expect(refused.text).toContain('This address has received 5 invitations in the last 24 hours.');
  });

  it('is accepted only after a recent login', async () => {
    const [ada, grace] = [await portal.developer(), await portal.developer()];
    const id = await portal.application(ada.browser);
    const link = await invite(ada.browser, id, 'owner');
    await portal.logIn(grace.browser, grace.userId, '/', { auth_time: Math.floor(Date.now() / 1000) - 601 });
    const posted = await accept(grace.browser, link);
    expect(posted.headers['location']).toContain('again=');
    expect((await grace.browser.get(`/applications/${id}`)).status).toBe(404);
  });

  it('keeps its token out of every other URL', async () => {
    const [ada, grace] = [await portal.developer(), portal.browser()];
    const id = await portal.application(ada.browser);
    const link = await invite(ada.browser, id, 'owner');
    const [, token = ''] = link.split('token=');
    await grace.get(link);
    const login = await grace.get('/invitation/accept');
    expect(login.headers['location']).toBe('/login?page=%2Finvitation%2Faccept');
    expect((await grace.get('/login?page=%2Finvitation%2Faccept')).text).not.toContain(token);
  });

  it('is not accepted without the form', async () => {
    const [ada, grace] = [await portal.developer(), await portal.developer()];
    const id = await portal.application(ada.browser);
    await grace.browser.get(await invite(ada.browser, id, 'owner'));
    expect((await grace.browser.post('/invitation/accept', {})).status).toBe(403);
    expect((await grace.browser.get(`/applications/${id}`)).status).toBe(404);
  });

  it('is sent to an address without showing its link', async () => {
    const { browser } = await portal.developer();
    const id = await portal.application(browser);
    const fields = { kind: 'owner', email: ' grace@example.com ' };
    const page = await portal.postForm(browser, `/applications/${id}/invitations`, fields);
    expect(page.status).toBe(201);
    expect(page.text).toContain('grace@example.com');
    expect(page.text).not.toContain('token=');
    const team = await browser.get(`/applications/${id}/team`);
    expect(team.text).toContain('<bdi>grace@example.com</bdi>');
    expect(team.text).toMatch(/>Role<[^]*>\s*Owner\s*</);
    const [mail] = await portal.fixture.sql('SELECT kind, outcome FROM mails');
    expect(mail).toEqual({ kind: 'invitation', outcome: null });
    expect((await browser.get(`/applications/${id}/history`)).text).not.toContain('grace@example.com');
  });

  it('can be revoked', async () => {
    const [ada, grace] = [await portal.developer(), await portal.developer()];
    const id = await portal.application(ada.browser);
    const link = await invite(ada.browser, id, 'owner');
    const { text } = await ada.browser.get(`/applications/${id}/team`);
    const [path = ''] = /\/applications\/[^"]+\/invitations\/[^"]+\/revoke/.exec(text) ?? [];
    await portal.postForm(ada.browser, path);
    expect((await accept(grace.browser, link)).status).toBe(404);
  });
});

describe('an owner', () => {
  it('cannot leave as the last one, with a text that says so', async () => {
    const { browser, userId } = await portal.developer();
    const id = await portal.application(browser);
    const refused = await portal.postForm(browser, `/applications/${id}/team/owner/${userId}/remove`);
    expect(refused.status).toBe(409);
    expect(refused.text).toContain('The last owner cannot leave');
  });

  it('leaves after another has accepted', async () => {
    const [ada, grace] = [await portal.developer(), await portal.developer()];
    const id = await portal.application(ada.browser);
    await accept(grace.browser, await invite(ada.browser, id, 'owner'));
    const left = await portal.postForm(ada.browser, `/applications/${id}/team/owner/${ada.userId}/remove`);
    expect(left.headers['location']).toBe('/?note=changed');
    expect((await ada.browser.get(`/applications/${id}`)).status).toBe(404);
    expect((await grace.browser.get(`/applications/${id}`)).status).toBe(200);
  });

  it('removes a tester', async () => {
    const [ada, grace] = [await portal.developer(), await portal.developer()];
    const id = await portal.application(ada.browser);
    await accept(grace.browser, await invite(ada.browser, id, 'tester'));
    const path = `/applications/${id}/team/tester/${grace.userId}/remove`;
    expect((await ada.browser.get(path)).text).toContain('no longer be able to test');
    await portal.postForm(ada.browser, path);
    expect((await ada.browser.get(`/applications/${id}/team`)).text).toContain('There are no testers.');
  });
});
