import { ClientMemberService } from '#clients/operations/owners/client-member.service.js';
import { ApplicationService } from '#clients/operations/owners/application.service.js';
import { ClientSecretService } from '#clients/operations/client-secret.service.js';
import { ClientService } from '#clients/operations/client.service.js';
import { RequestService } from '#clients/operations/requests/request.service.js';
import type { RequestContent } from '#clients/operations/requests/requested-registration.js';
import { ReviewService } from '#clients/operations/requests/review.service.js';
import { ClientRegistrationStore } from '#clients/client-registration.store.js';
import { AdministrationError } from '#platform/validation/administration.error.js';
import { blocked } from '#test/support/until.js';
import { UserAccountStore } from '#users/user-account.store.js';
import { DataSource } from 'typeorm';
import { type Developer, GRACE, openPortal, type Portal } from '../support/open-portal.js';

const CONTENT: RequestContent = {
  application: 'server',
  name: 'Calendar Connect',
  purpose: 'Shows bookings in a calendar.\nEvery hour.',
  clientUri: 'https://calendar.example.com',
  policyUri: 'https://calendar.example.com/privacy',
  contacts: ['dev@calendar.example.com'],
  redirectUris: ['https://app.calendar.example.com/callback'],
  scopes: ['profile:read', 'bookings:read'],
  reasons: { 'profile:read': 'Shows the name', 'bookings:read': 'Shows the bookings' },
};

describe('requests of owners', () => {
  let portal: Portal;
  let requests: RequestService;
  let reviews: ReviewService;
  let applications: ApplicationService;
  let members: ClientMemberService;
  let ada: Developer;
  let eve: Developer;
  let count = 0;

  beforeAll(async () => {
    portal = await openPortal();
    requests = portal.portal(RequestService);
    applications = portal.portal(ApplicationService);
    members = portal.portal(ClientMemberService);
    reviews = portal.console(ReviewService);
  });
  beforeEach(async () => {
    count += 1;
    ada = await portal.developer(`ada${count}`);
    eve = await portal.developer(`eve${count}`);
  });
  afterAll(() => portal.close());

  async function submitted(owner = ada, content = CONTENT) {
    return owner.as(async () => {
      const draft = await requests.createDraft(owner.actor, content);
      const { result } = await requests.submit(owner.actor, draft.id, { version: draft.version });
      return { ...result.request, clientId: result.request.client_id ?? '', client: result.client };
    });
  }

  async function live(owner = ada, content = CONTENT): Promise<string> {
    const { id, version, clientId } = await submitted(owner, content);
    await reviews.approve(GRACE, id, { version });
    return clientId;
  }

  const refusalOf = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => 'done',
      (error: unknown) => {
        if (!(error instanceof AdministrationError)) throw error;
        return { kind: error.kind, ids: error.problems.map(({ id }) => id) };
      },
    );

  const outcomesOf = async (...work: Promise<unknown>[]): Promise<string[]> =>
    (await Promise.all(work.map(refusalOf))).map((found) =>
      typeof found === 'string' ? found : (found as { kind: string }).kind,
    );

  it('makes an application live with the id and the secret that it had in testing', async () => {
    const { id, clientId, client, status } = await submitted();
    expect(status).toBe('submitted');
    expect(client).toMatchObject({ client_id: clientId, client_secret: expect.stringMatching(/^scs_/) });
    const row = () =>
      portal.sql('SELECT stage, disabled_at, name FROM clients WHERE client_id = $1', clientId);
    const secrets = () => portal.sql('SELECT id, hash FROM client_secrets WHERE client_id = $1', clientId);
    expect(await row()).toEqual([{ stage: 'testing', disabled_at: null, name: 'Calendar Connect' }]);
    const before = await secrets();

    const found = await reviews.find(id);
    expect(found).toMatchObject({ request: { status: 'submitted', client_id: clientId }, changes: {} });
    expect(found.owners.map(({ user_id: user }) => user)).toEqual([ada.actor.userId]);
    const asked = await reviews.ask(GRACE, id, { version: found.request.version, text: 'Why hourly?' });
    const { version } = asked.result;
    const content = { ...CONTENT, name: 'Calendar Sync' };
    const answered = await ada.as(() =>
      requests.answer(ada.actor, id, { version, text: 'Every change now.' }, content),
    );
    expect(await row()).toMatchObject([{ stage: 'testing', name: 'Calendar Sync' }]);
    await reviews.approve(GRACE, id, { version: answered.result.version, text: 'Welcome' });

    expect(await row()).toEqual([{ stage: 'live', disabled_at: null, name: 'Calendar Sync' }]);
    expect(await secrets()).toEqual(before);
    const { request, messages } = await ada.as(() => requests.find(ada.actor, id));
    expect(request).toMatchObject({ status: 'approved', decided_at: expect.any(String) });
    expect(messages.map(({ author, name, text }) => [author, name, text])).toEqual([
      ['operator', 'grace@console', 'Why hourly?'],
      ['owner', ada.actor.name, 'Every change now.'],
      ['operator', 'grace@console', 'Welcome'],
    ]);
    const history = await ada.as(() => applications.history(ada.actor, clientId));
    expect(history.map(({ action, userId, operator }) => [action, userId, operator])).toEqual([
      ['updated', null, 'grace@console'],
      ['updated', ada.actor.userId, null],
      ['client_secrets_added', ada.actor.userId, null],
      ['client_owners_added', ada.actor.userId, null],
      ['created', ada.actor.userId, null],
    ]);
    expect(history[0]?.changes).toEqual({ stage: { old: 'testing', new: 'live' } });
    expect(JSON.stringify(history)).not.toContain('hash');
  });

  it('keeps an incomplete draft, and reports every problem when it is submitted', async () => {
    await ada.as(async () => {
      const draft = await requests.createDraft(ada.actor, { name: ' ', scopes: ['profile:read', 'unknown'] });
      const saved = await requests.saveDraft(
        ada.actor,
        draft.id,
        { version: 1 },
        { ...draft.content, contacts: [] },
      );
      expect(saved.version).toBe(2);
      expect(await refusalOf(requests.saveDraft(ada.actor, draft.id, { version: 1 }, {}))).toEqual({
        kind: 'outdated',
        ids: ['request_outdated'],
      });
      const refusal = await refusalOf(requests.submit(ada.actor, draft.id, { version: 2 }));
      expect(refusal).toMatchObject({ kind: 'invalid' });
      await requests.saveDraft(
        ada.actor,
        draft.id,
        { version: 2 },
        { ...CONTENT, name: ' ', reasons: {}, scopes: ['unknown'], redirectUris: ['http://a.example/'] },
      );
      expect(await refusalOf(requests.submit(ada.actor, draft.id, { version: 3 }))).toEqual({
        kind: 'invalid',
        ids: ['reason_missing', 'name_invalid', 'redirect_uri_invalid', 'scope_unknown'],
      });
      expect(
        await refusalOf(requests.createDraft(ada.actor, { firstParty: true } as RequestContent)),
      ).toEqual({
        kind: 'invalid',
        ids: ['unknown_field'],
      });
    });
  });

  it('is unknown to other users', async () => {
    const { id, clientId, version } = await submitted();
    const draft = await ada.as(() => requests.createDraft(ada.actor, CONTENT));
    const unknown = { kind: 'unknown', ids: [expect.any(String)] };
    await eve.as(async () => {
      for (const work of [
        requests.find(eve.actor, id),
        requests.find(eve.actor, draft.id),
        requests.answer(eve.actor, id, { version, text: 'mine' }),
        requests.saveDraft(eve.actor, draft.id, { version: 1 }, CONTENT),
        requests.submit(eve.actor, draft.id, { version: 1 }),
        applications.find(eve.actor, clientId),
        applications.history(eve.actor, clientId),
        applications.change(eve.actor, clientId, { policyUri: null }),
        members.team(clientId),
        members.invite(eve.actor, clientId, { kind: 'owner' }),
        portal.portal(ClientSecretService).rotate(eve.actor, clientId),
        portal.portal(ClientService).delete(eve.actor, clientId),
      ])
        expect(await refusalOf(work)).toEqual(unknown);
      expect(await applications.list(eve.actor)).toEqual([]);
    });
    expect(await refusalOf(reviews.find(draft.id))).toEqual(unknown);
  });

  it('is decided once by two operators at the same time', async () => {
    const [first, second] = [await submitted(), await submitted()];
    const { id, version } = first;
    expect(
      (
        await outcomesOf(reviews.approve(GRACE, id, { version }), reviews.approve(GRACE, id, { version }))
      ).sort(),
    ).toEqual(['conflict', 'done']);
    const text = 'No';
    const step = { version: second.version, text };
    expect(
      (
        await outcomesOf(reviews.approve(GRACE, second.id, step), reviews.reject(GRACE, second.id, step))
      ).sort(),
    ).toEqual(['conflict', 'done']);
  });

  it('is submitted once by two requests at the same time', async () => {
    await ada.as(async () => {
      const { id } = await requests.createDraft(ada.actor, CONTENT);
      const submit = () => requests.submit(ada.actor, id, { version: 1 });
      expect((await outcomesOf(submit(), submit())).sort()).toEqual(['conflict', 'done']);
      expect(await applications.list(ada.actor)).toHaveLength(1);
    });
  });

  it('is approved only as the operator has read it', async () => {
    const { id, version, clientId } = await submitted();
    const revised = { ...CONTENT, redirectUris: ['https://evil.example/callback'] };
    await ada.as(() => requests.answer(ada.actor, id, { version }, revised));
    expect(await refusalOf(reviews.approve(GRACE, id, { version }))).toEqual({
      kind: 'outdated',
      ids: ['request_outdated'],
    });
    const rows = await portal.sql('SELECT stage FROM clients WHERE client_id = $1', clientId);
    expect(rows).toEqual([{ stage: 'testing' }]);
  });

  it('disables a rejected application, which the owner may request again', async () => {
    const { id, version, clientId } = await submitted();
    expect(await refusalOf(reviews.reject(GRACE, id, { version }))).toMatchObject({ kind: 'invalid' });
    await reviews.reject(GRACE, id, { version, text: 'Add a privacy policy' });
    const row = () =>
      portal.sql('SELECT stage, disabled_at IS NULL AS enabled FROM clients WHERE client_id = $1', clientId);
    expect(await row()).toEqual([{ stage: 'testing', enabled: false }]);
    const again = await ada.as(async () => {
      const draft = await requests.createDraft(ada.actor, { ...CONTENT, name: 'Calendar 2' }, clientId);
      return (await requests.submit(ada.actor, draft.id, { version: 1 })).result;
    });
    expect(again.client).toBeNull();
    expect(await row()).toEqual([{ stage: 'testing', enabled: false }]);
    await reviews.approve(GRACE, again.request.id, { version: again.request.version });
    expect(await row()).toEqual([{ stage: 'live', enabled: true }]);
  });

  it('keeps the kind of an application whose registration was rejected', async () => {
    const { id, version, clientId } = await submitted();
    await reviews.reject(GRACE, id, { version, text: 'Add a privacy policy' });
    for (const application of ['browser', 'device'])
      await ada.as(async () => {
        const draft = await requests.createDraft(ada.actor, { ...CONTENT, application }, clientId);
        expect(await refusalOf(requests.submit(ada.actor, draft.id, { version: 1 }))).toEqual({
          kind: 'conflict',
          ids: ['application_fixed'],
        });
      });
  });

  it('has no redirect URI of this service', async () => {
    const invalid = { kind: 'invalid', ids: ['redirect_uri_invalid'] };
    const clientId = await live();
    await ada.as(async () => {
      for (const host of ['console', 'developers', 'oauth']) {
        const redirectUris = [`https://${host}.example.com/login/callback`];
        const draft = await requests.createDraft(ada.actor, { ...CONTENT, redirectUris });
        expect(await refusalOf(requests.submit(ada.actor, draft.id, { version: 1 }))).toEqual(invalid);
        await requests.deleteDraft(ada.actor, draft.id, { version: 1 });
        const change = { redirectUris, purpose: 'Another host' };
        expect(await refusalOf(applications.change(ada.actor, clientId, change))).toEqual(invalid);
      }
    });
  });

  it('changes immediately what needs no review, and proposes the rest', async () => {
    const clientId = await live();
    const { result } = await ada.as(() =>
      applications.change(ada.actor, clientId, {
        name: 'Calendar Plus',
        policyUri: 'https://calendar.example.com/privacy2',
        redirectUris: ['https://app.calendar.example.com/new', 'https://other.example.com/callback'],
        scopes: ['profile:read', 'bookings:write'],
        purpose: 'A new host',
        reasons: { 'bookings:write': 'Moves bookings' },
      }),
    );
    expect(Object.keys(result.changes).sort()).toEqual(['policy_uri', 'redirect_uris', 'scopes']);
    expect(result.request).toMatchObject({
      kind: 'change',
      status: 'submitted',
      content: {
        name: 'Calendar Plus',
        addRedirectUris: ['https://other.example.com/callback'],
        addScopes: ['bookings:write'],
      },
    });
    const row = async () =>
      (
        await portal.sql(
          'SELECT name, policy_uri, redirect_uris, scopes FROM clients WHERE client_id = $1',
          clientId,
        )
      )[0];
    expect(await row()).toEqual({
      name: 'Calendar Connect',
      policy_uri: 'https://calendar.example.com/privacy2',
      redirect_uris: ['https://app.calendar.example.com/new'],
      scopes: ['profile:read'],
    });
    const { id = '', version = 0 } = result.request ?? {};
    const { changes, findings } = await reviews.find(id);
    expect(changes).toMatchObject({
      name: { old: 'Calendar Connect', new: 'Calendar Plus' },
      scopes: expect.anything(),
    });
    expect(findings).toContainEqual({
      id: 'redirect_host_elsewhere',
      values: { host: 'other.example.com', website: 'calendar.example.com' },
    });
    await reviews.approve(GRACE, id, { version });
    expect(await row()).toEqual({
      name: 'Calendar Plus',
      policy_uri: 'https://calendar.example.com/privacy2',
      redirect_uris: ['https://app.calendar.example.com/new', 'https://other.example.com/callback'],
      scopes: ['profile:read', 'bookings:write'],
    });
  });

  it('has at most one undecided change per application', async () => {
    const clientId = await live();
    const change = (name: string) =>
      ada.as(() => applications.change(ada.actor, clientId, { name, purpose: 'A better name' }));
    expect((await outcomesOf(change('One'), change('Two'))).sort()).toEqual(['conflict', 'done']);
    const [open] = await ada.as(() => requests.undecided(ada.actor));
    const step = { version: open?.version ?? 0 };
    await ada.as(() => requests.withdraw(ada.actor, open?.id ?? '', step));
    expect(await outcomesOf(change('Three'))).toEqual(['done']);
  });

  it('limits drafts, applications, testers and invitations', async () => {
    const limited = { kind: 'conflict', ids: ['limit_reached'] };
    await ada.as(async () => {
      const drafts = await Promise.all(
        Array.from({ length: 12 }, () => refusalOf(requests.createDraft(ada.actor, CONTENT))),
      );
      expect(drafts.filter((outcome) => outcome === 'done')).toHaveLength(10);
      expect(drafts).toContainEqual(limited);
    });
    const { clientId } = await submitted(eve);
    await eve.as(async () => {
      const invitations = await Promise.all(
        Array.from({ length: 12 }, () => refusalOf(members.invite(eve.actor, clientId, { kind: 'tester' }))),
      );
      expect(invitations.filter((outcome) => outcome === 'done')).toHaveLength(10);
      expect(invitations).toContainEqual(limited);
      const owners = await Promise.all(
        Array.from({ length: 12 }, () => refusalOf(members.invite(eve.actor, clientId, { kind: 'owner' }))),
      );
      expect(owners.filter((outcome) => outcome === 'done')).toHaveLength(10);
    });
    const max = await portal.developer(`max${count}`);
    for (let at = 0; at < 9; at++) await submitted(max);
    // The undecided requests have their own limit.
    await portal.sql(
      `UPDATE client_requests SET status = 'approved', decided_at = now() WHERE user_id = $1`,
      max.actor.userId,
    );
    await max.as(async () => {
      const drafts = [
        await requests.createDraft(max.actor, CONTENT),
        await requests.createDraft(max.actor, CONTENT),
      ];
      const outcomes = await Promise.all(
        drafts.map(({ id }) => refusalOf(requests.submit(max.actor, id, { version: 1 }))),
      );
      expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(1);
      expect(outcomes).toContainEqual(limited);
    });
  });

  it('admits an invited member once, and ends the grants of a removed tester', async () => {
    const { clientId } = await submitted();
    const { result } = await ada.as(() => members.invite(ada.actor, clientId, { kind: 'tester' }));
    const bob = await portal.developer(`bob${count}`);
    const accept = (user: Developer) => user.as(() => members.accept(user.actor, result.token ?? ''));
    expect((await outcomesOf(accept(eve), accept(bob))).sort()).toEqual(['done', 'unknown']);
    const team = await ada.as(() => members.team(clientId));
    expect(team.map(({ kind }) => kind)).toEqual(['owner', 'tester']);
    const tester = team[1]?.userId ?? 0;
    await portal.sql(
      `INSERT INTO grants (id, user_id, client_id, scope, requested_scope, expires_at, lifetime)
       VALUES ($1, $2, $3, 'profile:read', 'profile:read', now() + interval '1 day', '1 day')`,
      `${clientId}${'A'.repeat(43)}`.slice(-43),
      tester,
      clientId,
    );
    await ada.as(() => members.remove(ada.actor, clientId, 'tester', tester));
    const grants = await portal.sql('SELECT revoked_at FROM grants WHERE client_id = $1', clientId);
    expect(grants).toEqual([{ revoked_at: expect.any(Date) }]);
  });

  it('keeps the last of two owners who leave at the same time', async () => {
    const clientId = await live();
    const { result } = await ada.as(() => members.invite(ada.actor, clientId, { kind: 'owner' }));
    await eve.as(() => members.accept(eve.actor, result.token ?? ''));
    const leave = (owner: Developer) =>
      owner.as(() => members.remove(owner.actor, clientId, 'owner', owner.actor.userId));
    expect((await outcomesOf(leave(ada), leave(eve))).sort()).toEqual(['conflict', 'done']);
    const owners = await portal.console(ClientMemberService).owners(clientId);
    expect(owners).toHaveLength(1);
  });

  it('has at most two live secrets, of which one may expire', async () => {
    const clientId = await live();
    const secrets = portal.portal(ClientSecretService);
    await ada.as(async () => {
      const { result } = await secrets.rotate(ada.actor, clientId, undefined, { expiresInDays: 30 });
      expect(result.secrets).toEqual([
        { id: expect.any(String), created_at: expect.any(String), last_used_at: null },
        {
          id: result.secret_id,
          created_at: expect.any(String),
          last_used_at: null,
          expires_at: expect.any(String),
        },
      ]);
      expect(await refusalOf(secrets.rotate(ada.actor, clientId))).toMatchObject({ kind: 'conflict' });
      await secrets.revoke(ada.actor, clientId, result.secrets[0]?.id ?? '');
      expect((await applications.find(ada.actor, clientId)).secrets).toHaveLength(1);
    });
  });

  it('is submitted for the first time while its user is deleted, without a deadlock', async () => {
    const { userId } = ada.actor;
    const draft = await ada.as(() => requests.createDraft(ada.actor, CONTENT));
    const key = `hashtextextended('limits of ${userId}', 0)`;
    await portal.sql(`SELECT pg_advisory_lock(${key})`);
    const submission = ada.as(() => requests.submit(ada.actor, draft.id, { version: draft.version }));
    await blocked(portal);
    const deletion = new UserAccountStore(portal.console(DataSource)).delete(userId);
    await blocked(portal, 2);
    await portal.sql(`SELECT pg_advisory_unlock(${key})`);
    const [outcome, deleted] = await Promise.all([refusalOf(submission), deletion]);
    expect(deleted.outcome).toBe('deleted');
    // The deletion may precede the reading of the response.
    expect(['done', { kind: 'unknown', ids: ['request_unknown'] }]).toContainEqual(outcome);
    const [stored] = await portal.sql('SELECT client_id FROM client_requests WHERE id = $1', draft.id);
    const clientId = stored?.['client_id'];
    const withoutOwner = await portal.console(ClientMemberService).withoutOwner();
    expect(withoutOwner.map((client) => client.clientId)).toContain(clientId);
  });

  it('shows the reviewer names that look alike, however the other application got its name', async () => {
    const console = portal.console(DataSource);
    const created = await live(eve, { ...CONTENT, name: 'Twin Rooms' });
    const renamed = await live(eve, { ...CONTENT, name: 'Other' });
    await new ClientRegistrationStore(console).update(renamed, (current) => ({
      ...current,
      name: 'Тwin Rооms',
    }));
    await portal.sql(
      `INSERT INTO clients (client_id, name, type, redirect_uris) VALUES ('sc_written', 'TWlN ROOMS', 'public', '{https://a.example}')`,
    );
    const { id } = await submitted(ada, { ...CONTENT, name: 'Twin rooms' });
    const { findings } = await reviews.find(id);
    const others = findings.flatMap((finding) =>
      finding.id === 'name_like_application' ? [finding.values.clientId] : [],
    );
    expect(others.sort()).toEqual([created, renamed, 'sc_written'].sort());
    const [history] = await portal.sql(
      `SELECT changes FROM client_history WHERE client_id = $1 ORDER BY id DESC LIMIT 1`,
      renamed,
    );
    expect(history).toEqual({ changes: { name: { old: 'Other', new: 'Тwin Rооms' } } });
  });

  it('leaves an application without an owner to the operator when the owner is disabled or deleted', async () => {
    const [disabled, deleted] = [await live(), await live(eve)];
    const operators = portal.console(ClientMemberService);
    const without = async () => (await operators.withoutOwner()).map(({ clientId }) => clientId);
    expect(await without()).not.toContain(disabled);
    await portal.sql('UPDATE grants SET revoked_at = now() WHERE revoked_at IS NULL');
    await portal.sql('UPDATE users SET operator_disabled_at = now() WHERE id = $1', ada.actor.userId);
    await portal.sql('DELETE FROM users WHERE id = $1', eve.actor.userId);
    expect(await without()).toEqual(expect.arrayContaining([disabled, deleted]));
    expect(await ada.as(() => refusalOf(applications.find(ada.actor, disabled)))).toMatchObject({
      kind: 'unknown',
    });
    const bob = await portal.developer(`bob${count}`);
    await operators.addOwner(GRACE, deleted, `id:${bob.actor.userId}`);
    expect(await bob.as(() => applications.list(bob.actor))).toMatchObject([{ clientId: deleted }]);
    await operators.removeOwner(GRACE, deleted, `id:${bob.actor.userId}`);
    expect(await without()).toContain(deleted);
  });
});
