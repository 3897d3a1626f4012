import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { auditEvent, type AuditRecord } from '#audit/event.js';
import { comparisonOf } from '../src/explain/comparison.js';
import { closestDifference, differenceOf } from '../src/explain/difference.js';
import { explanationOf } from '../src/explain/explanation.js';
import { isSimilar, referenceIn } from '../src/explain/reference.js';
import { SummaryBuilder } from '../src/explain/refusal-summary.js';

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
  ])('of %s from %s is marked character by character', (sent, expected, marked) => {
    expect(differenceOf(sent, expected)).toEqual({ sent, expected, marked });
  });

  it('is taken from the value that resembles the sent one most', () => {
    const registered = ['https://other.example/x', 'https://a.example/cb', 'com.example:/cb'];
    expect(closestDifference('https://a.example/CB', registered)).toMatchObject({ expected: registered[1] });
  });

  it('of two texts that differ almost everywhere shows both whole, and is found at once', () => {
    // The sender of a request chooses one text. A full comparison of these takes minutes.
    const [sent = '', ...registered] = Array.from({ length: 21 }, (_, seed) => {
      const parts = Array.from({ length: 30 }, (_each, part) => hash('sha256', `${seed} ${part}`));
      return `https://a.example/${parts.join('')}`;
    });
    expect(closestDifference(sent, registered)).toEqual({
      sent,
      expected: registered[0],
      marked: `[-${registered[0]}-]{+${sent}+}`,
    });
  });

  it('is none where nothing is registered', () => {
    expect(closestDifference('https://a.example', [])).toBeNull();
  });
});

describe('what a check compared', () => {
  it('is the redirect URI beside every registered one, and its difference from the closest', () => {
    const detail = {
      redirect_uri: 'https://a.example/cb/',
      registered: ['https://a.example/cb', 'https://b.example'],
    };
    expect(comparisonOf(event({ check: 'redirect_uri', detail }))).toEqual({
      values: [
        { name: 'sent', value: 'https://a.example/cb/' },
        { name: 'registered', value: 'https://a.example/cb' },
        { name: 'registered', value: 'https://b.example' },
      ],
      differences: [expect.objectContaining({ marked: 'https://a.example/cb{+/+}' })],
    });
  });

  it('is each scope that was asked for in vain, beside the one that it resembles', () => {
    const detail = {
      requested: ['profile:read', 'bookings:reed'],
      registered: ['profile:read', 'bookings:read'],
    };
    const { differences } = comparisonOf(event({ check: 'scope', detail }));
    expect(differences.map(({ marked }) => marked)).toEqual(['bookings:re[-a-]{+e+}d']);
  });

  it('is the scopes of a refresh and those that the user granted', () => {
    const detail = { sent: 'profile:read x', expected: 'profile:read' };
    expect(comparisonOf(event({ check: 'scope_exceeds', detail }))).toMatchObject({
      values: [
        { name: 'asked for', value: 'profile:read x' },
        { name: 'granted', value: 'profile:read' },
      ],
      differences: [{ sent: 'x' }],
    });
  });

  it('is the expiry, the clock of the service, and the time between them', () => {
    const detail = { expired_at: '2026-11-22T17:56:40.000Z' };
    expect(comparisonOf(event({ check: 'expired', detail })).values).toEqual([
      { name: 'expired', value: '2026-11-22T17:56:40.000Z' },
      { name: 'clock of the service', value: '2026-11-22T18:00:00.000Z, 3 min 20 s later' },
    ]);
  });

  it('is every other value of the event under its own name', () => {
    const detail = { code_challenge_method: 'plain', counter: 3 };
    expect(comparisonOf(event({ check: 'pkce', detail })).values).toEqual([
      { name: 'code_challenge_method', value: 'plain' },
      { name: 'counter', value: '3' },
    ]);
  });
});

describe('an explanation', () => {
  it('is that of the token app where an API knows only that a token is not valid', () => {
    const atApi = event({ check: 'access token is active', error: 'invalid_token' }, 'resource');
    const atToken = event({ check: 'revoked', error: 'invalid_token', grant_id: 'g1', client_id: CLIENT });
    const explanation = explanationOf('r', [atApi, atToken]);
    expect(explanation).toMatchObject({
      event: atToken,
      others: [atApi],
      clientId: CLIENT,
      grantId: 'g1',
      title: 'The access was revoked',
    });
    expect(explanation.remedies.map(({ action }) => action).join()).toContain(
      '`operator audit search --grant g1`',
    );
  });

  it('names the owner of the grant where no event names the client', () => {
    const events = [event({ check: 'revoked', error: 'invalid_token', grant_id: 'g1' })] as const;
    expect(explanationOf('r', events, { clientId: CLIENT, userId: 7 })).toMatchObject({
      clientId: CLIENT,
      userId: 7,
      grantId: 'g1',
    });
  });

  it('leaves out whether the exchange used PKCE, where that is not what failed', () => {
    const detail = { sent: 'a', expected: 'b', pkce: false };
    expect(comparisonOf(event({ check: 'other_client', detail })).values).toHaveLength(2);
  });

  it('has commands that can be copied', () => {
    const detail = { redirect_uri: 'https://a.example/cb', registered: [] };
    const { remedies } = explanationOf('r', [event({ check: 'redirect_uri', client_id: CLIENT, detail })]);
    expect(remedies.find(({ party }) => party === 'operator')?.action).toContain(
      `\`operator client update ${CLIENT} --add-redirect-uri https://a.example/cb\``,
    );
  });

  it('has commands that begin as the operator started this one', () => {
    const started = process.env.npm_lifecycle_event;
    process.env.npm_lifecycle_event = 'operator';
    try {
      const { remedies } = explanationOf('r', [event({ check: 'client secret matches', client_id: CLIENT })]);
      expect(remedies.find(({ party }) => party === 'operator')?.action).toContain(
        `\`npm run -s operator -- client secret list ${CLIENT}\``,
      );
    } finally {
      if (started === undefined) delete process.env.npm_lifecycle_event;
      else process.env.npm_lifecycle_event = started;
    }
  });

  it.each([
    ['https://a.example/$(id)', CLIENT],
    ['https://a.example/;id', CLIENT],
    ["https://a.example/'&id", CLIENT],
    ["https://a.example/';id;'", 'x --add-redirect-uri URI ID --client ID'],
  ])('of %s has commands that a shell takes without running what the sender wrote', (uri, clientId) => {
    const detail = { redirect_uri: uri, registered: [] };
    const { remedies } = explanationOf('r', [event({ check: 'redirect_uri', client_id: clientId, detail })]);
    const action = remedies.find(({ party }) => party === 'operator')?.action ?? '';
    const [command = ''] = /(?<=`operator )client update.*(?=`)/.exec(action) ?? [];
    expect(execFileSync('sh', ['-c', `printf '%s\\n' ${command}`], { encoding: 'utf8' }).trim()).toBe(
      ['client', 'update', clientId, '--add-redirect-uri', uri].join('\n'),
    );
  });

  it('of a request that succeeded names no check', () => {
    const { title, remedies } = explanationOf('r', [event({ type: 'token.issued', status: 200 })]);
    expect([title, remedies]).toEqual([null, []]);
  });
});

describe('a summary', () => {
  it('takes events in any order', () => {
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

  it('groups refusals by cause, the most frequent first, with first, last and an example', () => {
    const summary = new SummaryBuilder();
    const at = (minute: number) => new Date(AT.getTime() + minute * 60_000);
    summary.add(event({ check: 'expired', error: 'invalid_grant', reference: 'a' }, 'token', at(1)));
    summary.add(event({ check: 'pkce', error: 'invalid_request', reference: 'b' }, 'token', at(2)));
    summary.add(event({ type: 'token.issued' }, 'token', at(3)));
    summary.add(event({ check: 'expired', error: 'invalid_grant', reference: 'c' }, 'token', at(4)));
    const { groups, refused, succeeded } = summary.build();
    expect([refused, succeeded, groups.map(({ check, count }) => [check, count])]).toEqual([
      3,
      1,
      [
        ['expired', 2],
        ['pkce', 1],
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

  it('of the proxy is told from one of the service', () => {
    expect(() => referenceIn('0123456789abcdef0123456789abcdef')).toThrow(/the proxy/);
  });

  it.each(['', 'short', '\u001b[31m', 'x'.repeat(400)])('is not %j', (text) => {
    expect(() => referenceIn(text)).toThrow(/is not a reference/);
  });

  it.each([
    ['dhdpfs_iGBYa', 'dhdpfs_IGBYa', true],
    ['dhdpfs_iGBYa', 'DHDPFS_IGBYA', true],
    ['dhdpfs_iGBYa', 'dhdpfs_1GBY4', true],
    ['dhdpfs_iGBYa', 'xxxpfs_iGBYa', false],
    ['dhdpfs_iGBYa', 'dhdpfs_iGBY', false],
  ])('%s resembles %s: %s', (one, other, similar) => {
    expect(isSimilar(one, other)).toBe(similar);
  });
});
