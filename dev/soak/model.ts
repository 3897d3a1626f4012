import { isRefusal, type Try } from './requests.js';
import { CALM_MS, type Timeline } from './timeline.js';
import { describeTry, type Violate } from './violations.js';

export interface Pair {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly receivedAt: number;
}

/** Why a grant is over, since when that was asked for, and when it was answered. */
interface End {
  readonly why: string;
  readonly askedAt: number;
  doneAt: number | null;
}

/** What the model knows of a grant. Times are milliseconds since the soak began. */
export class Grant {
  /** What happened to it, a line an event. */
  readonly story: string[] = [];
  /** What its client was given, the newest last. */
  readonly pairs: Pair[] = [];
  end: End | null = null;

  /** @param issuedAt when the request was sent that was answered with the code */
  constructor(readonly issuedAt: number) {}

  get newest(): Pair | undefined {
    return this.pairs.at(-1);
  }
}

/** What was seen that is no violation, and is worth a figure. */
export interface Statistics {
  /** Codes presented twice at the same time; presented again later. */
  codeRaces: number;
  codeReplays: number;
  /** Refresh tokens presented again outside their window; refused, and taken because Redis had lost its data. */
  reuses: number;
  reusesTaken: number;
  /** Refreshes of several workers at once. */
  parallelRefreshes: number;
  /** Refreshes without an answer that were repeated, and got the pair. */
  retriedRefreshes: number;
  /** Refreshes that an outage kept from an answer for longer than the retry window; those that were refused then. */
  lateRefreshes: number;
  lateLogouts: number;
  /** Codes whose redemption got no answer, or that a restart of Redis made void: the user clicks again. */
  lostCodes: number;
  /** Revocations that were answered, and uses of what was revoked after that. */
  revocations: number;
  usesRefused: number;
  /** Those that an API still took because the revocation had not arrived, and the longest time after it, in milliseconds. */
  usesTaken: number;
  latestUse: { calm: number; disturbed: number };
  proofReplays: number;
}

/** Judges what the services answer by what they answered before. Knows no clock but the times of the requests. */
export class Model {
  readonly statistics: Statistics = {
    codeRaces: 0,
    codeReplays: 0,
    reuses: 0,
    reusesTaken: 0,
    parallelRefreshes: 0,
    retriedRefreshes: 0,
    lateRefreshes: 0,
    lateLogouts: 0,
    lostCodes: 0,
    revocations: 0,
    usesRefused: 0,
    usesTaken: 0,
    latestUse: { calm: 0, disturbed: 0 },
    proofReplays: 0,
  };
  /** Grants whose end was answered, in that order. */
  readonly ended: Grant[] = [];

  /** @param retryWindow in milliseconds */
  constructor(
    private readonly timeline: Timeline,
    private readonly retryWindow: number,
    private readonly violate: Violate,
  ) {}

  /**
   * All requests that redeemed a code, once each has come to its end.
   *
   * @returns whether the client has its tokens now
   */
  redeemed(grant: Grant, tries: readonly Try[]): boolean {
    const sent = grant.pairs.length;
    this.tell(grant, tries);
    const wins = tries.filter(({ status }) => status === 200);
    for (const win of wins) this.mustBeAlive(grant, win, 'a code is accepted after its grant ended');
    if (wins.length + sent > 1)
      this.fail(grant, 'a code wins once', wins, `it won ${wins.length + sent} times`);
    for (const win of wins) this.keep(grant, win);
    const refused = tries.filter(({ status }) => status === 400);
    const won = grant.pairs.length > 0;
    // What got no answer may have been carried out: then the repetition is a second use.
    const explained = (one: Try) =>
      won ||
      this.mayHaveEnded(grant, one) ||
      tries.some((other) => other !== one && isRefusal(other) && other.received) ||
      this.timeline.restartedRedis(grant.issuedAt, one.answeredAt);
    const wrong = refused.filter((one) => !explained(one));
    if (wrong.length > 0) this.fail(grant, 'an honest client gets tokens for its code', wrong);
    for (const one of refused) {
      this.endIfRevoked(grant, one);
      // RFC 6749 4.1.2: whoever is refused beside a winner came second, which ends what the winner got.
      if (won && !this.timeline.lostData(grant.issuedAt, one.answeredAt)) this.endedAt(grant, one.answeredAt);
    }
    // A 503 or a lost answer beside or after the winner's may hide that the second use was noticed, and the revocation recorded.
    const [win] = wins;
    const second = win && tries.find((one) => isRefusal(one) && one.received && one.answeredAt >= win.sentAt);
    if (second) this.ending(grant, 'its code may have been presented twice', second.sentAt);
    if (!won && refused.length > 0) this.statistics.lostCodes += 1;
    return wins.length > 0;
  }

  /** All requests of an honest client that refreshed by one token, once each has come to its end. */
  refreshed(grant: Grant, tries: readonly Try[]): void {
    this.tell(grant, tries);
    const granted = tries.filter(({ status }) => status === 200);
    for (const one of granted)
      this.mustBeAlive(grant, one, 'a refresh token is accepted after its grant ended');
    this.oneSuccessor(grant, granted);
    const [first] = granted;
    if (first) {
      this.keep(grant, first);
      if (tries.some((one) => one.answeredAt < first.answeredAt && isRefusal(one) && one.received))
        this.statistics.retriedRefreshes += 1;
    }
    const lost = tries.filter((one) => one.received);
    const since = Math.min(...lost.map(({ sentAt }) => sentAt));
    const late = (one: Try) =>
      one.answeredAt - since >= this.retryWindow && lost.some((other) => other !== one);
    if (tries.some((one) => !isRefusal(one) && late(one))) this.statistics.lateRefreshes += 1;
    for (const one of tries.filter(({ status }) => status === 400)) {
      const excused = this.mayHaveEnded(grant, one);
      this.endIfRevoked(grant, one);
      if (excused) continue;
      if (late(one)) this.statistics.lateLogouts += 1;
      else this.fail(grant, 'an honest client is not logged out', [one]);
      grant.end ??= { why: 'a refresh was refused', askedAt: one.sentAt, doneAt: null };
    }
  }

  /** An access token was used, by its client or by somebody who should not. @param accepted whether it opened something */
  used(grant: Grant, pair: Pair, one: Try, accepted: boolean): void {
    if (isRefusal(one)) return;
    if (accepted) return this.mustBeAlive(grant, one, 'an access token is accepted after its grant ended');
    if (grant.end?.doneAt) this.statistics.usesRefused += 1;
    if (this.mayHaveEnded(grant, one)) return;
    this.tell(grant, [one]);
    this.fail(
      grant,
      'an access token of an honest client is accepted',
      [one],
      `it was given out at ${Math.round(pair.receivedAt)} ms`,
    );
  }

  /** What a grant's end made worthless was presented at the token app. */
  misused(grant: Grant, one: Try): void {
    if (isRefusal(one)) return;
    if (one.status !== 200) {
      this.statistics.usesRefused += 1;
      return;
    }
    this.tell(grant, [one]);
    this.mustBeAlive(grant, one, 'a code or refresh token is accepted after its grant ended');
  }

  /**
   * A code that was redeemed, or a refresh token outside its window, was presented again: RFC 6749 4.1.2, RFC 9700 4.14.2.
   *
   * @param since when it was used up
   */
  replayed(grant: Grant, one: Try, what: 'code' | 'refresh token', since: number): void {
    this.tell(grant, [one]);
    grant.end ??= { why: `its ${what} was replayed`, askedAt: one.sentAt, doneAt: null };
    if (isRefusal(one)) return;
    if (what === 'code') this.statistics.codeReplays += 1;
    else this.statistics.reuses += 1;
    // A Redis without its data knows no generation and no code.
    const lost = this.timeline.lostData(since, one.answeredAt);
    if (one.status !== 200) return lost ? this.endIfRevoked(grant, one) : this.endedAt(grant, one.answeredAt);
    if (what === 'refresh token' && lost) this.statistics.reusesTaken += 1;
    else this.fail(grant, `a ${what} that was used is refused`, [one]);
  }

  /** Somebody asks for the grant's end; from now on it may be refused. */
  ending(grant: Grant, why: string, askedAt: number): void {
    grant.story.push(`${Math.round(askedAt)} ms: ${why}`);
    grant.end ??= { why, askedAt, doneAt: null };
  }

  /** The end was answered with success; from now on it must be refused. */
  endedAt(grant: Grant, doneAt: number): void {
    grant.story.push(`${Math.round(doneAt)} ms: it is over`);
    grant.end ??= { why: 'it was ended', askedAt: doneAt, doneAt: null };
    if (grant.end.doneAt !== null) return;
    grant.end.doneAt = doneAt;
    this.statistics.revocations += 1;
    this.ended.push(grant);
  }

  /** One DPoP proof was sent twice. */
  proofReplayed(grant: Grant, tries: readonly Try[]): void {
    this.statistics.proofReplays += 1;
    const taken = tries.filter(({ status }) => status === 200);
    const times = tries.flatMap(({ sentAt, answeredAt }) => [sentAt, answeredAt]);
    if (taken.length < 2 || this.timeline.lostData(Math.min(...times), Math.max(...times))) return;
    this.fail(grant, 'a DPoP proof is good once', taken);
  }

  private tell(grant: Grant, tries: readonly Try[]): void {
    grant.story.push(...tries.map(describeTry));
  }

  private fail(grant: Grant, rule: string, tries: readonly Try[], what?: string, timed = false): void {
    const from =
      Math.min(grant.end?.askedAt ?? Infinity, ...tries.map(({ sentAt }) => sentAt)) - this.retryWindow;
    this.violate({ rule, tries, story: grant.story, from, timed, ...(what !== undefined && { what }) });
  }

  private keep(grant: Grant, { text, answeredAt: receivedAt }: Try): void {
    const body = JSON.parse(text) as { access_token: string; refresh_token: string };
    grant.pairs.push({ accessToken: body.access_token, refreshToken: body.refresh_token, receivedAt });
  }

  /** RFC 9700 4.14.2: one token has one successor, whoever presents it how often. */
  private oneSuccessor(grant: Grant, granted: readonly Try[]): void {
    const tokens = new Set(
      granted.map(({ text }) => (JSON.parse(text) as { refresh_token: string }).refresh_token),
    );
    if (tokens.size < 2) return;
    const times = granted.flatMap(({ sentAt, answeredAt }) => [sentAt, answeredAt]);
    if (this.timeline.lostData(Math.min(...times), Math.max(...times))) return;
    this.fail(grant, 'a refresh token has one successor', granted);
  }

  /** A refusal that says that the grant is revoked is as good as a revocation that was answered. */
  private endIfRevoked(grant: Grant, { text, answeredAt }: Try): void {
    if (/was used before|has been revoked/.test(text)) this.endedAt(grant, answeredAt);
  }

  private mayHaveEnded({ end }: Grant, { answeredAt }: Try): boolean {
    return end !== null && end.askedAt <= answeredAt;
  }

  private mustBeAlive(grant: Grant, one: Try, rule: string): void {
    const { end } = grant;
    if (end === null || end.doneAt === null || one.sentAt <= end.doneAt) return;
    const after = one.sentAt - end.doneAt;
    // The token app itself asks Redis, which knew before the revocation was answered.
    const atAnApi = one.place.startsWith('resource');
    const takes = atAnApi ? this.timeline.revocationTakes(end.askedAt, one.sentAt) : 0;
    if (after > takes) {
      this.tell(grant, [one]);
      const what = `${Math.round(after)} ms after: ${end.why}; at most ${takes} ms are due`;
      return this.fail(grant, rule, [one], what, atAnApi);
    }
    const { statistics, timeline } = this;
    statistics.usesTaken += 1;
    const when = timeline.revocationTakes(end.askedAt, one.sentAt) > CALM_MS ? 'disturbed' : 'calm';
    statistics.latestUse[when] = Math.max(statistics.latestUse[when], after);
  }
}
