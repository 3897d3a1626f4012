import { accessTokenHash } from '#oauth/openid/id-token.js';
import { SIGNING_KEYS } from '#test/support/keys.js';
import { checkIdToken } from '../soak/id-token.js';
import { LogOuts } from '../soak/log-outs.js';
import { FAULT_KINDS, faultName } from '../soak/plan.js';
import { newStatistics } from '../soak/report.js';
import { Timeline } from '../soak/timeline.js';

/** Creates a model whose clock is set by `inject` and `logOut`. */
function newModel() {
  let now = 0;
  const rules: string[] = [];
  const timeline = new Timeline(() => now);
  const statistics = newStatistics();
  const logOuts = new LogOuts(timeline, ({ rule }) => void rules.push(rule), statistics);
  const inject = (name: string, startedAt: number): void => {
    now = startedAt;
    const kind = FAULT_KINDS.find((candidate) => faultName(candidate) === name);
    if (!kind) throw new Error(name);
    const endedAt = startedAt + 1_000;
    Object.assign(timeline.start({ kind, replica: null }), { endedAt, settledAt: endedAt });
  };
  /** Logs out at `time`. The response arrives after 10 ms. */
  const logOut = (time: number, sids: readonly string[] | null): void => {
    now = time;
    logOuts.request('7', sids).confirmedAt = time + 10;
  };
  return { logOuts, statistics, rules, inject, logOut };
}

describe('the model of log-outs', () => {
  const [ONE, ALL] = [
    { sub: '7', jti: 'a', sid: 's1' },
    { sub: '7', jti: 'b' },
  ];

  it('accepts repeated logout tokens for one session and for all sessions', () => {
    const { logOuts, logOut, rules, statistics } = newModel();
    logOut(1_000, ['s1']);
    logOuts.receive(ONE);
    logOuts.receive(ONE);
    logOut(2_000, null);
    logOuts.receive(ALL);
    logOuts.reportMissing();
    expect(rules).toEqual([]);
    expect(statistics).toMatchObject({ logOuts: 2, logoutTokens: 3, repeatedLogoutTokens: 1 });
  });

  it.each([
    ['a log-out without a logout token', ['s1'], []],
    ['a session without a logout token', ['s1', 's2'], [ONE]],
    ['a log-out everywhere with the logout token of one session', null, []],
  ])('reports %s', (_what, sids, tokens) => {
    const { logOuts, logOut, rules } = newModel();
    logOut(1_000, sids);
    for (const token of tokens) logOuts.receive(token);
    logOuts.reportMissing();
    expect(rules).toEqual(['a log-out reaches the application']);
  });

  it('reports a logout token that arrived before the log-out', () => {
    const { logOuts, logOut, rules } = newModel();
    logOuts.receive(ONE);
    expect(rules).toEqual(['a logout token follows a log-out']);
    logOut(1_000, ['s1']);
    logOuts.reportMissing();
    expect(rules).toEqual(['a logout token follows a log-out', 'a log-out reaches the application']);
  });

  it.each(['authorize killed', 'token killed', 'nats killed', 'postgres killed'])(
    'reports a confirmed log-out without a logout token even after %s',
    (fault) => {
      const { logOuts, logOut, inject, rules } = newModel();
      logOut(1_000, ['s1']);
      inject(fault, 1_500);
      logOuts.reportMissing();
      expect(rules).toEqual(['a log-out reaches the application']);
    },
  );
});

describe('the check of ID tokens', () => {
  const ISSUER = 'https://base.example.com';
  const VALID = {
    iss: ISSUER,
    sub: '7',
    aud: 'sc_a',
    nonce: 'n',
    sid: 's1',
    auth_time: 1_700_000_000,
    at_hash: accessTokenHash('t', 'RS256'),
  };
  const EXPECTED = { issuer: ISSUER, clientId: 'sc_a', userId: 7, nonce: 'n', login: null };
  const LOGIN = { sid: 's1', authTime: 1_700_000_000 };
  const answer = async (claims: object) => ({
    access_token: 't',
    id_token: await SIGNING_KEYS.sign({ ...VALID, ...claims }, 'RS256'),
  });

  it('accepts a valid ID token and returns its login', async () => {
    expect(await checkIdToken(await answer({}), EXPECTED)).toEqual({ problems: [], login: LOGIN });
    expect(await checkIdToken(await answer({}), { ...EXPECTED, login: LOGIN })).toMatchObject({
      problems: [],
    });
  });

  it.each([
    ['another user', { sub: '8' }],
    ['another application', { aud: 'sc_b' }],
    ['another nonce', { nonce: 'm' }],
    ['another access token', { at_hash: 'x' }],
    ['another session', { sid: 's2' }],
    ['no session', { sid: undefined }],
    ['another login', { auth_time: 1 }],
    ['another issuer', { iss: 'https://evil.example' }],
  ])('reports an ID token with %s', async (_what, claims) => {
    const { problems } = await checkIdToken(await answer(claims), { ...EXPECTED, login: LOGIN });
    expect(problems).not.toEqual([]);
  });

  it('reports a nonce after a refresh, and a missing ID token', async () => {
    const refresh = { ...EXPECTED, nonce: undefined };
    expect((await checkIdToken(await answer({}), refresh)).problems).toHaveLength(1);
    expect((await checkIdToken(await answer({ nonce: undefined }), refresh)).problems).toEqual([]);
    expect((await checkIdToken({ access_token: 't' }, EXPECTED)).problems).toEqual(['it is missing']);
  });
});
