import { hash } from 'node:crypto';
import { type AuditEvent, auditEvent, type AuditRecord } from '#audit/event.js';
import type { ClientWithSecrets } from '#clients/client.js';
import {
  closestDifference,
  comparisonOf,
  differenceOf,
  markedText,
} from '#audit/operations/explain/comparison.js';
import { explanationOf } from '#audit/operations/explain/explanation.js';
import {
  isSimilar,
  referenceIn,
  searchedSince,
  SummaryBuilder,
} from '#audit/operations/explain/refusal-summary.js';
import { registeredClient } from '#test/support/stored.js';

const CLIENT = 'sc_abcdefghijklmnopqrstuvwx';
const AT = new Date('2026-11-22T18:00:00.000Z');

const event = (record: Partial<AuditRecord>, service: 'token' | 'resource' = 'token', time = AT) =>
  auditEvent(service, { type: 'request.refused', ...record }, time);

describe('a difference', () => {
  it.each([
    ['https://a.example/cb/', 'https://a.example/cb', 'https://a.example/cb{+/+}'],
    ['https://a.example/cb', 'https://a.example/cb/', 'https://a.example/cb[-/-]'],
    ['http://a.example', 'https://a.example', 'http[-s-]://a.example'],
    ['same', 'same', 'same'],
    ['nope', 'profile:read', '[-profile:read-]{+nope+}'],
    ['', 'https://a.example', '[-https://a.example-]'],
  ])(
    'is marked by character, or as a whole between unlike texts: %j instead of %j',
    (sent, expected, marked) => {
      const difference = differenceOf(sent, expected);
      expect(difference).toMatchObject({ sent, expected });
      expect(markedText(difference)).toBe(marked);
    },
  );

  it('uses the closest match', () => {
    const registered = ['https://other.example/x', 'https://a.example/cb', 'com.example:/cb'];
    expect(closestDifference('https://a.example/CB', registered)).toMatchObject({ expected: registered[1] });
  });

  it('shows two very different texts as a whole, in bounded time', () => {
    // A full comparison of these texts, one of which a client chooses, would take minutes.
    const [sent = '', ...registered] = Array.from({ length: 21 }, (_, seed) => {
      const parts = Array.from({ length: 30 }, (_each, part) => hash('sha256', `${seed} ${part}`));
      return `https://a.example/${parts.join('')}`;
    });
    expect(closestDifference(sent, registered)).toEqual({
      sent,
      expected: registered[0],
      parts: [
        { text: registered[0], only: 'expected' },
        { text: sent, only: 'sent' },
      ],
    });
  });

  it('is null without a registered value', () => {
    expect(closestDifference('https://a.example', [])).toBeNull();
  });
});

describe('the values that a check compared', () => {
  it('are the redirect URI and all registered URIs, with the difference from the closest URI', () => {
    const detail = {
      redirect_uri: 'https://a.example/cb/',
      registered: ['https://a.example/cb', 'https://b.example'],
    };
    const { values, differences } = comparisonOf(event({ check: 'redirect_uri_unregistered', detail }));
    expect(values).toEqual([
      { name: 'sent', value: 'https://a.example/cb/' },
      { name: 'registered', value: 'https://a.example/cb' },
      { name: 'registered', value: 'https://b.example' },
    ]);
    expect(differences.map(markedText)).toEqual(['https://a.example/cb{+/+}']);
  });

  it('are the rejected scopes, each with its closest match', () => {
    const detail = {
      requested: ['profile:read', 'bookings:reed'],
      registered: ['profile:read', 'bookings:read'],
    };
    const { differences } = comparisonOf(event({ check: 'scope_unregistered', detail }));
    expect(differences.map(markedText)).toEqual(['bookings:re[-a-]{+e+}d']);
  });

  it('are limited in number, even for thousands of scopes', () => {
    const requested = Array.from({ length: 2_000 }, (_, n) => `profile:read${n}`);
    const registered = Array.from({ length: 200 }, (_, n) => `scope:${n}`).concat('profile:read');
    const compared = (detail: Readonly<Record<string, unknown>>) =>
      comparisonOf(event({ check: 'scope_unregistered', detail })).differences;
    expect(compared({ requested, registered: ['profile:read'] })).toHaveLength(5);
    expect(compared({ requested: ['profile:reads'], registered })).not.toMatchObject([
      { expected: 'profile:read' },
    ]);
  });

  it.each([
    ['bookings:read', 'openid'],
    ['bookings:read', 'profile:read'],
  ])('have no difference for the scope %s, which is not a misspelled %s', (requested, registered) => {
    const detail = { requested: [requested], registered: [registered] };
    expect(comparisonOf(event({ check: 'scope_unregistered', detail })).differences).toEqual([]);
  });

  it('are the post-logout redirect URI and all registered URIs, with the difference', () => {
    const detail = { post_logout_redirect_uri: 'https://a.example', registered: ['https://a.example/'] };
    const { values, differences } = comparisonOf(
      event({ check: 'post_logout_redirect_uri_unregistered', detail }),
    );
    expect(values.map(({ name }) => name)).toEqual(['sent', 'registered']);
    expect(differences.map(markedText)).toEqual(['https://a.example[-/-]']);
  });

  it('are the requested and the granted scopes of a refresh', () => {
    const detail = { sent: 'profile:read profile', expected: 'profile:read' };
    expect(comparisonOf(event({ check: 'scope_not_granted', detail }))).toMatchObject({
      values: [
        { name: 'requested', value: 'profile:read profile' },
        { name: 'granted', value: 'profile:read' },
      ],
      differences: [{ sent: 'profile' }],
    });
  });

  it('are the expiry, the clock of the service, and the time between them', () => {
    const detail = { expired_at: '2026-11-22T17:56:40.000Z' };
    expect(comparisonOf(event({ check: 'expired', detail })).values).toEqual([
      { name: 'expired', value: '2026-11-22T17:56:40.000Z' },
      { name: 'clock of the service', value: '2026-11-22T18:00:00.000Z, 3 min 20 s later' },
    ]);
  });

  it('are all other values of the event by name', () => {
    const detail = { code_challenge_method: 'plain', counter: 3 };
    expect(comparisonOf(event({ check: 'code_challenge_invalid', detail })).values).toEqual([
      { name: 'code_challenge_method', value: 'plain' },
      { name: 'counter', value: '3' },
    ]);
  });
});

const REGISTERED = registeredClient({
  clientId: CLIENT,
  redirectUris: ['https://a.example/registered'],
  requirePar: true,
  disabledAt: AT,
  createdAt: AT,
});
const SCOPES = ['profile:read', 'bookings:read', 'bookings:write'];

const explained = (
  events: readonly [AuditEvent, ...AuditEvent[]],
  client: ClientWithSecrets | null | undefined = REGISTERED,
  scopes: readonly string[] | null = SCOPES,
) => explanationOf('r', events, null, { client, scopes });

function operatorRemedy(
  record: Partial<AuditRecord>,
  client?: Partial<ClientWithSecrets> | null,
  scopes?: readonly string[] | null,
) {
  const events = [event({ client_id: CLIENT, ...record })] as const;
  const registered = client === null ? null : { ...REGISTERED, ...client };
  const remedy = explained(events, registered, scopes).remedies.find(({ party }) => party === 'operator');
  return { action: remedy?.action, commands: remedy?.commands };
}

describe('an explanation', () => {
  it('uses the event of the token app if the API records only that a token is not valid', () => {
    const atApi = event({ check: 'access_token_inactive', error: 'invalid_token' }, 'resource');
    const atToken = event({ check: 'revoked', error: 'invalid_token', grant_id: 'g1', client_id: CLIENT });
    const explanation = explained([atApi, atToken]);
    expect(explanation).toMatchObject({
      event: atToken,
      others: [atApi],
      clientId: CLIENT,
      grantId: 'g1',
      title: 'The access was revoked',
    });
    expect(explanation.remedies.flatMap(({ commands }) => commands)).toEqual([
      ['grant', 'show', 'g1'],
      ['audit', 'search', '--grant', 'g1'],
    ]);
  });

  it('names the owner of the grant if no event names the client', () => {
    const events = [event({ check: 'revoked', error: 'invalid_token', grant_id: 'g1' })] as const;
    const owner = { clientId: CLIENT, userId: 7 };
    expect(explanationOf('r', events, owner, { client: REGISTERED, scopes: SCOPES })).toMatchObject({
      clientId: CLIENT,
      userId: 7,
      grantId: 'g1',
    });
  });

  it.each(['__proto__', 'constructor', 'toString'])('treats a check named %s as unknown', (check) => {
    const { title, comparison } = explained([event({ check, detail: { sent: 'a', expected: 'b' } })]);
    expect([title, comparison.values]).toEqual([
      'The request was refused',
      [
        { name: 'sent', value: 'a' },
        { name: 'expected', value: 'b' },
      ],
    ]);
  });

  it('omits PKCE if another check failed', () => {
    const detail = { sent: 'a', expected: 'b', pkce: false };
    expect(comparisonOf(event({ check: 'other_client', detail })).values).toHaveLength(2);
  });

  it('contains commands with the values of the request', () => {
    const detail = { redirect_uri: 'https://a.example/cb', registered: [] };
    expect(operatorRemedy({ check: 'redirect_uri_unregistered', detail }).commands).toEqual([
      ['client', 'update', CLIENT, '--add-redirect-uri', 'https://a.example/cb'],
    ]);
  });

  it('omits a command with a missing value', () => {
    const { remedies } = explained([event({ check: 'revoked', error: 'invalid_grant' })]);
    expect(remedies.flatMap(({ commands }) => commands)).toEqual([]);
  });

  it.each([
    ['https://a.example/$(id)', CLIENT],
    ['https://a.example/;id', CLIENT],
    ["https://a.example/'&id", CLIENT],
    ["https://a.example/';id;'", 'x{redirect_uri}--client{client_id}'],
  ])('keeps %s as one word of a command', (uri, clientId) => {
    const detail = { redirect_uri: uri, registered: [] };
    const { commands } = operatorRemedy({ check: 'redirect_uri_unregistered', client_id: clientId, detail });
    expect(commands).toEqual([['client', 'update', clientId, '--add-redirect-uri', uri]]);
  });

  it('contains neither a title nor remedies for a successful request', () => {
    const { title, remedies } = explained([event({ type: 'token.issued', status: 200 })]);
    expect([title, remedies]).toEqual([null, []]);
  });

  it('names theft and mistakes of the application as causes of a reused refresh token', () => {
    const { meaning } = explained([event({ check: 'refresh_token_reused', error: 'invalid_grant' })]);
    expect(meaning).toMatch(
      /stolen.*application sent an old one.*lost a response.*two of its workers.*backup/,
    );
  });
});

describe('an unregistered redirect URI', () => {
  const remedy = (uri: unknown, client?: Partial<ClientWithSecrets> | null) =>
    operatorRemedy({ check: 'redirect_uri_unregistered', detail: { redirect_uri: uri } }, client);

  it.each([
    ['javascript:alert(1)', /It cannot be registered: it has the scheme javascript/],
    ['data:text/html,x', /it has the scheme data/],
    ['http://a.example/cb', /it is not encrypted/],
    ['https://a.example/cb#x', /it has a fragment/],
    ['https://a.example/*', /it has a wildcard/],
    ['https://user@a.example/', /it has a user name/],
    ['https://a.example/\u001b[2J', /it has spaces, control or non-ASCII characters/],
    [undefined, /no redirect_uri that could be registered/],
  ])('is not suggested if registration would reject the URI: %j', (uri, action) => {
    for (const type of ['public', 'confidential'] as const)
      expect(remedy(uri, { type })).toEqual({ action: expect.stringMatching(action), commands: [] });
  });

  it('is suggested only if the client’s type permits the URI', () => {
    expect(remedy('com.example.app:/cb', { type: 'public' }).commands).toHaveLength(1);
    expect(remedy('com.example.app:/cb', { type: 'confidential' }).commands).toEqual([]);
  });

  it('is not suggested if it was registered after the request', () => {
    const redirectUris = ['https://a.example/cb', 'http://127.0.0.1/cb'];
    expect(remedy('https://a.example/cb', { redirectUris }).action).toMatch(/It is registered now/);
    expect(remedy('http://127.0.0.1:5000/cb', { redirectUris, type: 'public' }).commands).toEqual([]);
  });

  it('is not suggested for a client with the maximum number of redirect URIs', () => {
    const redirectUris = Array.from({ length: 20 }, (_, n) => `https://a.example/${n}`);
    expect(remedy('https://a.example/cb', { redirectUris })).toEqual({
      action: expect.stringMatching(/has 20 redirect URIs, which is the limit/),
      commands: [],
    });
  });

  it('is not suggested for an unregistered or unknown client', () => {
    expect(remedy('https://a.example/cb', null)).toEqual({
      action: expect.stringMatching(/is not registered/),
      commands: [],
    });
    const detail = { redirect_uri: 'https://a.example/cb' };
    const { remedies } = explanationOf('r', [event({ check: 'redirect_uri_unregistered', detail })], null, {
      client: undefined,
      scopes: SCOPES,
    });
    expect(remedies.flatMap(({ commands }) => commands)).toEqual([]);
  });
});

describe('an unregistered post-logout redirect URI', () => {
  const remedy = (uri: string, postLogoutRedirectUris: string[]) =>
    operatorRemedy(
      { check: 'post_logout_redirect_uri_unregistered', detail: { post_logout_redirect_uri: uri } },
      { postLogoutRedirectUris },
    );

  it('is suggested together with the registered URIs, because the command replaces the list', () => {
    expect(remedy('https://a.example/bye', ['https://a.example/']).commands).toEqual([
      [
        'client',
        'update',
        CLIENT,
        '--post-logout-redirect-uri',
        'https://a.example/',
        '--post-logout-redirect-uri',
        'https://a.example/bye',
      ],
    ]);
  });

  it.each([
    ['http://a.example/bye', [], /cannot be registered: it is not encrypted/],
    ['https://a.example/', ['https://a.example/'], /is registered now/],
    ['https://a.example/', Array.from({ length: 20 }, (_, n) => `https://a.example/${n}`), /the limit/],
  ])(
    'is not suggested if it is invalid, already registered or above the limit: %s',
    (uri, registered, action) => {
      expect(remedy(uri, registered)).toEqual({ action: expect.stringMatching(action), commands: [] });
    },
  );
});

describe('a remedy for the operator', () => {
  it('adds declared scopes that the client does not have', () => {
    const detail = { requested: ['profile:read', 'bookings:read', 'nope', 'bookings:write'] };
    expect(operatorRemedy({ check: 'scope_unregistered', detail }).commands).toEqual([
      ['client', 'update', CLIENT, '--add-scope', 'bookings:read bookings:write'],
    ]);
  });

  it.each([
    [['profile:read'], SCOPES, /registered for all of them now/],
    [['nope'], SCOPES, /nope is not declared in `SCOPES_FILE`/],
  ])('adds no registered or undeclared scope: %j', (requested, scopes, action) => {
    expect(operatorRemedy({ check: 'scope_unregistered', detail: { requested } }, {}, scopes)).toEqual({
      action: expect.stringMatching(action),
      commands: [],
    });
  });

  it('adds scopes of the HTTP API to client_credentials clients, and other scopes to other clients', () => {
    const own = { grantType: 'client_credentials', scopes: ['admin:read'] } as const;
    const unregistered = (...requested: string[]) => ({ check: 'scope_unregistered', detail: { requested } });
    expect(operatorRemedy(unregistered('admin:write', 'bookings:read'), own).commands).toEqual([
      ['client', 'update', CLIENT, '--add-scope', 'admin:write'],
    ]);
    expect(operatorRemedy(unregistered('bookings:read'), own).commands).toEqual([]);
    expect(operatorRemedy(unregistered('admin:write')).commands).toEqual([]);
  });

  it('adds no scope that the client has and the user did not grant', () => {
    const detail = { sent: '', expected: 'bookings:read' };
    expect(operatorRemedy({ check: 'scope_insufficient', detail }).commands).toHaveLength(1);
    expect(operatorRemedy({ check: 'scope_insufficient', detail }, { scopes: SCOPES }).commands).toEqual([]);
  });

  it('omits changes that were made after the request', () => {
    expect(operatorRemedy({ check: 'push_required' }).commands).toEqual([
      ['client', 'update', CLIENT, '--require-par', 'false'],
    ]);
    expect(operatorRemedy({ check: 'push_required' }, { requirePar: false }).action).toMatch(/REQUIRE_PAR/);
    expect(operatorRemedy({ check: 'push_required' }, { profile: 'fapi2' }).commands).toEqual([]);
    expect(operatorRemedy({ check: 'state_missing' }).commands).toEqual([
      ['client', 'update', CLIENT, '--state', 'optional'],
    ]);
    expect(operatorRemedy({ check: 'state_missing' }, { requireState: false }).commands).toEqual([]);
    for (const check of ['client_disabled']) {
      expect(operatorRemedy({ check }).commands).toContainEqual(['client', 'enable', CLIENT]);
      expect(operatorRemedy({ check }, { disabledAt: null })).toEqual({
        action: 'It is enabled now: repeat the request.',
        commands: [],
      });
    }
  });
});

describe('a summary', () => {
  it('accepts events in any order', () => {
    const summary = new SummaryBuilder();
    for (const [minute, reference] of [
      [2, 'b'],
      [3, 'c'],
      [1, 'a'],
    ] as const)
      summary.add(event({ check: 'expired', reference }, 'token', new Date(AT.getTime() + minute * 60_000)));
    expect(summary.build().groups).toMatchObject([
      { count: 3, first: '2026-11-22T18:01:00.000Z', last: '2026-11-22T18:03:00.000Z', reference: 'c' },
    ]);
  });

  it('groups refusals by cause, most frequent first, with the first and last time and a reference', () => {
    const summary = new SummaryBuilder();
    const at = (minute: number) => new Date(AT.getTime() + minute * 60_000);
    summary.add(event({ check: 'expired', error: 'invalid_grant', reference: 'a' }, 'token', at(1)));
    summary.add(
      event({ check: 'code_challenge_invalid', error: 'invalid_request', reference: 'b' }, 'token', at(2)),
    );
    summary.add(event({ type: 'token.issued' }, 'token', at(3)));
    summary.add(event({ check: 'expired', error: 'invalid_grant', reference: 'c' }, 'token', at(4)));
    const { groups, refused, succeeded } = summary.build();
    expect([refused, succeeded, groups.map(({ check, count }) => [check, count])]).toEqual([
      3,
      1,
      [
        ['expired', 2],
        ['code_challenge_invalid', 1],
      ],
    ]);
    expect(groups[0]).toMatchObject({
      first: at(1).toISOString(),
      last: at(4).toISOString(),
      reference: 'c',
      party: 'application',
    });
  });
});

describe('a reference', () => {
  it.each([
    'dhdpfs_iGBYa',
    ' "dhdpfs_iGBYa" ',
    'error_reference: dhdpfs_iGBYa',
    'Reference: dhdpfs_iGBYa.',
    '"error_reference":"dhdpfs_iGBYa"',
  ])('is found in %j', (text) => {
    expect(referenceIn(text)).toBe('dhdpfs_iGBYa');
  });

  it('may begin with a hyphen', () => {
    expect(referenceIn('-hdpfs_iGBY-')).toBe('-hdpfs_iGBY-');
  });

  it('is distinguished from a request id of the proxy', () => {
    expect(() => referenceIn('0123456789abcdef0123456789abcdef')).toThrow('reference_of_proxy');
  });

  it.each(['', 'short', '\u001b[31m', 'x'.repeat(400)])('is not found in %j', (text) => {
    expect(() => referenceIn(text)).toThrow('reference_invalid');
  });

  it.each([
    ['dhdpfs_iGBYa', 'dhdpfs_IGBYa', true],
    ['dhdpfs_iGBYa', 'DHDPFS_IGBYA', true],
    ['dhdpfs_iGBYa', 'dhdpfs_1GBY4', true],
    ['dhdpfs_iGBYa', 'xxxpfs_iGBYa', false],
    ['dhdpfs_iGBYa', 'dhdpfs_iGBY', false],
  ])('%s is similar to %s: %s', (one, other, similar) => {
    expect(isSimilar(one, other)).toBe(similar);
  });
});

describe('the start of the search for a reference', () => {
  const NOW = Date.parse('2026-11-22T18:00:00Z');
  const stream = { bytes: 0, maxBytes: 100, maxAgeDays: 90, first: new Date('2026-11-20T06:30:00Z') };
  const [old, young] = ['2025-01-01T00:00:00Z', '2026-11-01T12:00:00Z'];

  it.each([
    ['at which the retention begins', [{ ...stream, created: old }], '2026-08-24 18:00'],
    ['at which the stream was created', [{ ...stream, created: young }], '2026-11-01 12:00'],
    ['of the oldest event of a full stream', [{ ...stream, created: old, bytes: 99 }], '2026-11-20 06:30'],
    [
      'since which every stream has all events',
      [
        { ...stream, created: old },
        { ...stream, created: young },
      ],
      '2026-11-01 12:00',
    ],
  ])('is the time %s', (_, streams, expected) => {
    expect(searchedSince(streams, NOW)).toBe(expected);
  });
});
