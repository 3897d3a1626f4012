import { runCommand } from '#testing/backing/run-command.js';
import { Availability } from '../soak/availability.js';
import { Grant, Model, type Pair } from '../soak/model.js';
import { readOptions, USAGE, UsageError } from '../soak/options.js';
import { type Copy, type Kind, KINDS, nameOf, plan, Random } from '../soak/plan.js';
import type { Try } from '../soak/requests.js';
import { soak } from '../soak/soak.js';
import { type Operation, type Place, Timeline } from '../soak/timeline.js';
import type { Violation } from '../soak/violations.js';

const WINDOW_MS = 20_000;

const kind = (name: string): Kind => {
  const found = KINDS.find((one) => nameOf(one) === name);
  if (!found) throw new Error(`no kind of fault is named ${name}`);
  return found;
};

describe('npm run soak', () => {
  it('prints its purpose and options for --help, and starts nothing', async () => {
    const { code, stdout, stderr } = await runCommand(process.execPath, ['dist/dev/soak/main.js', '--help'], {
      cwd: process.cwd(),
      env: { PATH: process.env['PATH'] },
    });
    expect([code, stdout, stderr]).toEqual([0, USAGE, '']);
  });

  it.each([
    [['--minute', '3']],
    [['--minutes', '0']],
    [['--minutes', 'many']],
    [['--seed', '1.5']],
    [['--faults', 'redis killed,rain']],
    [['3']],
  ])('refuses the arguments %j', (args) => {
    expect(() => readOptions(args)).toThrow(UsageError);
  });

  it('uses all faults, for 15 minutes, by default', () => {
    expect(readOptions(['--seed', '7'])).toEqual({
      minutes: 15,
      seed: 7,
      kinds: KINDS,
      json: false,
      help: false,
    });
    expect(readOptions(['--faults', 'redis killed, nats cut off']).kinds.map(nameOf)).toEqual([
      'redis killed',
      'nats cut off',
    ]);
  });
});

describe('the plan of faults', () => {
  const take = (seed: number, count: number) => {
    const steps = plan(new Random(seed), KINDS, 1_000);
    return Array.from({ length: count }, () => steps.next().value);
  };

  it('is the same for the same seed, and different for another', () => {
    expect(take(1, 40)).toEqual(take(1, 40));
    expect(take(1, 40)).not.toEqual(take(2, 40));
  });

  it('contains every kind of fault before any is repeated', () => {
    const names = take(3, 60).flatMap(({ faults }) => faults.map((fault) => nameOf(fault.kind)));
    const all = new Set(KINDS.map(nameOf));
    expect(new Set(names.slice(0, all.size))).toEqual(all);
    expect(new Set(names.slice(all.size, 2 * all.size))).toEqual(all);
  });
});

/** The clock stands at the end of what is told. */
function judge() {
  let now = 0;
  const timeline = new Timeline(() => now);
  const violations: Violation[] = [];
  const violate = (violation: Violation) => void violations.push(violation);
  const model = new Model(timeline, WINDOW_MS, violate);
  const availability = new Availability(timeline, violate);
  return {
    timeline,
    model,
    availability,
    rules: () => violations.map(({ rule }) => rule),
    /** A fault that began and ended, and has settled a second later. */
    happened: (name: string, began: number, ended: number, copy: Copy | null = null) => {
      now = began;
      const happening = timeline.begin({ kind: kind(name), copy });
      Object.assign(happening, { endedAt: ended, settledAt: ended + 1_000 });
    },
  };
}

function tried(operation: Operation, place: Place, sentAt: number, status: number, body: object = {}): Try {
  const headers = new Headers(status === 503 ? { 'Retry-After': '1' } : {});
  const answeredAt = sentAt + 10;
  return {
    operation,
    place,
    sentAt,
    answeredAt,
    status,
    headers,
    text: JSON.stringify(body),
    received: true,
  };
}

const tokens = (name: string) => ({ access_token: `a-${name}`, refresh_token: `r-${name}` });
const redeemed = (sentAt: number, name = '1') => tried('redeem', 'token 1', sentAt, 200, tokens(name));
const refreshed = (sentAt: number, name: string) => tried('refresh', 'token 2', sentAt, 200, tokens(name));
const refused = (
  operation: Operation,
  sentAt: number,
  why = 'the refresh token was used before; every token …',
) => tried(operation, 'token 1', sentAt, 400, { error: 'invalid_grant', error_description: why });
const gone = (operation: Operation, sentAt: number) => tried(operation, 'token 1', sentAt, 0);
const me = (sentAt: number, status: number) => tried('me', 'resource 1', sentAt, status);

/** A grant that was redeemed at 100 ms and whose end was asked for at 1000 ms and answered at 1100 ms. */
function ended(model: Model): { grant: Grant; pair: Pair } {
  const grant = new Grant(0);
  model.redeemed(grant, [redeemed(100)]);
  model.ending(grant, 'it was revoked', 1_000);
  model.endedAt(grant, 1_100);
  return { grant, pair: grant.newest as Pair };
}

describe('the model of the soak test', () => {
  it.each([
    ['long after the revocation', 60_000, null, true],
    ['after three seconds without a fault', 4_100, null, true],
    ['while the broadcast is on its way', 1_150, null, false],
    ['within the five seconds for which an API trusts its cache without NATS', 6_000, 'nats killed', false],
    ['after these five seconds', 8_200, 'nats killed', true],
    [
      'within the thirty seconds of a cache entry, if the broadcasting process may have died',
      30_000,
      'token killed',
      false,
    ],
    ['after these thirty seconds', 33_200, 'token killed', true],
    [
      'after three seconds, if PostgreSQL was down, which delays no completed revocation',
      4_100,
      'postgres killed',
      true,
    ],
    ['after three seconds, if the broadcasting process restarted gracefully', 4_100, 'token restarted', true],
  ])('judges an API that accepts a revoked token %s', (_when, sentAt, fault, caught) => {
    const { model, happened, rules } = judge();
    if (fault) happened(fault, 900, 40_000, fault.startsWith('token') ? 'token 1' : null);
    const { grant, pair } = ended(model);
    model.used(grant, pair, me(sentAt, 200), true);
    expect(rules()).toEqual(caught ? ['an access token is accepted after its grant ended'] : []);
  });

  it('reports a token endpoint that accepts a revoked refresh token or code', () => {
    const { model, rules } = judge();
    const { grant } = ended(model);
    model.misused(grant, refreshed(1_101, '2'));
    expect(rules()).toEqual(['a code or refresh token is accepted after its grant ended']);
    model.misused(grant, refused('refresh', 1_102));
    expect(rules()).toHaveLength(1);
  });

  it('reports the refusal of a token whose grant is live', () => {
    const { model, rules } = judge();
    const grant = new Grant(0);
    model.redeemed(grant, [redeemed(100)]);
    model.used(grant, grant.newest as Pair, me(500, 401), false);
    expect(rules()).toEqual(['an access token of an honest client is accepted']);
  });

  it('reports a code that is redeemed twice, at once or later', () => {
    const { model, rules } = judge();
    const grant = new Grant(0);
    model.redeemed(grant, [redeemed(100), redeemed(101, '2')]);
    expect(rules()).toEqual(['a code wins once']);
    model.replayed(grant, redeemed(9_000, '3'), 'code', 110);
    expect(rules()).toEqual(['a code wins once', 'a code that was used is refused']);
  });

  it('reports a replayed code or refresh token that does not end its grant', () => {
    const { model, rules } = judge();
    const raced = new Grant(0);
    model.redeemed(raced, [redeemed(100), refused('redeem', 101)]);
    model.misused(raced, refreshed(200, '2'));
    const replayed = new Grant(0);
    model.redeemed(replayed, [redeemed(1_000)]);
    model.replayed(replayed, refused('redeem', 2_000), 'code', 1_010);
    model.misused(replayed, refreshed(2_100, '2'));
    const reused = new Grant(0);
    model.redeemed(reused, [redeemed(3_000)]);
    model.replayed(reused, refused('refresh', 4_000, 'whatever it says'), 'refresh token', 3_010);
    model.misused(reused, refreshed(4_100, '2'));
    expect(rules()).toEqual(Array(3).fill('a code or refresh token is accepted after its grant ended'));
  });

  it('reports a code that cannot be redeemed, unless an answer was lost or Redis restarted', () => {
    const { model, happened, rules } = judge();
    model.redeemed(new Grant(0), [gone('redeem', 100), refused('redeem', 200)]);
    happened('redis killed', 1_000, 2_000);
    model.redeemed(new Grant(900), [refused('redeem', 3_000, 'a server failed after the code was issued')]);
    expect([rules(), model.statistics.lostCodes]).toEqual([[], 2]);
    model.redeemed(new Grant(9_000), [refused('redeem', 9_100)]);
    expect(rules()).toEqual(['an honest client gets tokens for its code']);
  });

  it('reports a logged-out honest client, unless it had no answer for the whole retry window', () => {
    const { model, rules } = judge();
    const late = new Grant(0);
    model.refreshed(late, [gone('refresh', 1_000), refused('refresh', 1_000 + WINDOW_MS)]);
    expect([rules(), model.statistics.lateLogouts]).toEqual([[], 1]);
    const inTime = new Grant(0);
    model.refreshed(inTime, [gone('refresh', 1_000), refused('refresh', 900 + WINDOW_MS)]);
    expect(rules()).toEqual(['an honest client is not logged out']);
  });

  it('reports two successors of one refresh token, unless Redis lost its data in between', () => {
    const { model, happened, rules } = judge();
    const both = [refreshed(1_000, '2'), refreshed(5_000, '3')];
    happened('redis emptied', 2_000, 3_000);
    model.refreshed(new Grant(0), both);
    expect(rules()).toEqual([]);
    model.refreshed(new Grant(0), [refreshed(6_000, '2'), refreshed(6_001, '3')]);
    expect(rules()).toEqual(['a refresh token has one successor']);
  });

  it('reports a used refresh token that is accepted, unless Redis lost its data since', () => {
    const { model, happened, rules } = judge();
    model.replayed(new Grant(0), refreshed(1_000, '2'), 'refresh token', 500);
    expect(rules()).toEqual(['a refresh token that was used is refused']);
    happened('redis emptied', 2_000, 3_000);
    model.replayed(new Grant(0), refreshed(4_000, '2'), 'refresh token', 500);
    expect([rules().length, model.statistics.reusesTaken]).toEqual([1, 1]);
  });

  it('reports a DPoP proof that is accepted twice', () => {
    const { model, rules } = judge();
    model.proofReplayed(new Grant(0), [me(100, 200), me(100, 401)]);
    expect(rules()).toEqual([]);
    model.proofReplayed(new Grant(0), [me(200, 200), me(200, 200)]);
    expect(rules()).toEqual(['a DPoP proof is good once']);
  });

  const unavailable = (
    operation: Operation,
    place: Place,
    body: object = { error: 'temporarily_unavailable', error_reference: 'r' },
  ) => tried(operation, place, 1_500, 503, body);

  it.each([
    ['a refresh while Redis is away', unavailable('refresh', 'token 1'), 'redis killed', null, false],
    ['a refresh with no fault', unavailable('refresh', 'token 1'), null, null, true],
    [
      'a refresh while NATS is away, which it does not need',
      unavailable('refresh', 'token 1'),
      'nats killed',
      null,
      true,
    ],
    ['a refresh at the other copy', unavailable('refresh', 'token 1'), 'token killed', 'token 2', true],
    ['a refresh at the copy that is killed', gone('refresh', 1_500), 'token killed', 'token 1', false],
    ['a refresh at a copy that ends gracefully', gone('refresh', 1_500), 'token restarted', 'token 1', true],
    [
      'a refresh at the copy that cannot reach Redis',
      unavailable('refresh', 'token 1'),
      'redis cut off',
      'token 1',
      false,
    ],
    [
      'a page, when only a copy of token cannot reach Redis',
      unavailable('page', 'authorize 1'),
      'redis cut off',
      'token 1',
      true,
    ],
  ] as const)('reports failures without a cause: %s', (_what, one, fault, copy, caught) => {
    const { availability, happened, rules } = judge();
    if (fault) happened(fault, 1_000, 2_000, copy);
    availability.seen(one);
    expect(rules().includes('nothing fails without a fault that explains it')).toBe(caught);
  });

  it('reports a 503 that is not deliberate', () => {
    const { availability, happened, rules } = judge();
    happened('redis killed', 1_000, 2_000);
    availability.seen(unavailable('refresh', 'token 1', { statusCode: 503, message: 'Service Unavailable' }));
    expect(rules()).toEqual(['a 503 is a deliberate one']);
  });
});

// Of the rules that time decides a busy machine breaks some.
it('the soak test finds nothing in a graceful restart of a token app and a kill of Redis', async () => {
  const lines: string[] = [];
  const report = await soak({
    seed: 5,
    minutes: 60,
    steps: 2,
    kinds: [kind('token restarted'), kind('redis killed')],
    accounts: 4,
    calmMs: 0,
    progress: (line) => void lines.push(line),
  });
  expect(report.violations.filter(({ timed }) => !timed)).toEqual([]);
  expect(report.faults.map(({ fault, count }) => [fault, count])).toEqual([
    ['token restarted', 1],
    ['redis killed', 1],
  ]);
  const answered = report.operations.filter((one) => one.answered > 0).map(({ operation }) => operation);
  expect(answered).toEqual(
    expect.arrayContaining(['log in', 'allow', 'redeem', 'refresh', 'me', 'me with DPoP', 'revoke']),
  );
  expect(lines.join('\n')).toContain('redis killed');
}, 240_000);
