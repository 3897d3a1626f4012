import type { AuditEvent } from '#audit/event.js';
import type { AuditFilter } from '#audit/filter.js';
import { auditEvents, undocumentedDetails } from '#test/support/audit-trail.js';
import { PASSWORD } from './support/start-authorize-app.js';
import { revoke } from './support/connected-apps.js';
import { AUTHORIZE, useRequests } from './support/use-requests.js';

const { app, now, address, consented } = useRequests();

const eventsOf = (filter: AuditFilter, count: number) => auditEvents(app.services.natsUrl, filter, count);
const typesOf = (events: readonly AuditEvent[]) => events.map(({ type }) => type);

describe('the audit trail of the authorize app', () => {
  it('records login, consent, denial, revocation and logout, with user and application', async () => {
    const browser = await consented();
    await browser.submit(await browser.get(address({ prompt: 'consent' })), { decision: 'deny' }, AUTHORIZE);
    await revoke(browser, now.client);
    await browser.submit(await browser.get('/auth/'), {}, '/auth/logout');
    const events = await eventsOf({ userId: now.user.id }, 5);
    expect(typesOf(events)).toEqual([
      'login.succeeded',
      'consent.allowed',
      'consent.denied',
      'grant.revoked',
      'login.ended',
    ]);
    const [, allowed, denied, revoked] = events;
    const client_id = now.client.clientId;
    expect(allowed).toMatchObject({ client_id, grant_id: expect.stringMatching(/^[\w-]{43}$/) });
    expect(allowed?.detail).toMatchObject({ outcome: 'allowed', scope: expect.any(String) });
    expect(denied).toMatchObject({ client_id, error: 'access_denied', check: 'consent_denied' });
    expect(revoked).toMatchObject({ client_id, detail: { grants: 1 } });
  });

  it('records a refused login with the failed check, but without the submitted values', async () => {
    const browser = app.browser();
    await browser.submit(await browser.get('/auth/login'), {
      username: now.user.email,
      password: 'my secret',
    });
    const [refused] = await eventsOf({ userId: now.user.id }, 1);
    expect(refused).toMatchObject({
      type: 'login.refused',
      service: 'authorize',
      status: 401,
      check: 'password_mismatch',
    });
    const text = JSON.stringify(await eventsOf({}, 1));
    for (const submitted of ['my secret', now.user.email, PASSWORD]) expect(text).not.toContain(submitted);
  });

  it('records an error page with its reference, and a redirected error', async () => {
    const page = await app.browser().get(address({ redirect_uri: 'https://elsewhere.example.com/' }));
    const [reference] = /[\w-]{12}(?=<\/code>)/.exec(page.text) ?? [];
    const [shown] = await eventsOf({ reference: String(reference) }, 1);
    expect(shown).toMatchObject({ type: 'request.refused', status: 400, client_id: now.client.clientId });
    await app.browser().get(address({ response_type: 'token' }));
    const redirected = await eventsOf({ clientId: now.client.clientId }, 2);
    expect(redirected.at(-1)).toMatchObject({ status: 303, error: 'unsupported_response_type' });
  });

  it('does not record successful requests that change nothing', async () => {
    const browser = await app.loggedIn(now.user);
    await browser.get(address());
    await browser.get('/auth/');
    await browser.submit(await browser.get('/auth/'), {}, '/auth/logout');
    expect(typesOf(await eventsOf({ userId: now.user.id }, 2))).toEqual(['login.succeeded', 'login.ended']);
  });

  it('records only details that docs/audit.md describes', async () => {
    const events = await auditEvents(app.services.natsUrl, {}, 5);
    expect(await undocumentedDetails(events)).toEqual([]);
  });
});
