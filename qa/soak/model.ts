import type { Grant, TokenPair } from './id-token.js';
import { type Attempt, isUnavailable, isUnconfirmed } from './requests.js';
import { newStatistics } from './report.js';
import { PROPAGATION_MS, type Timeline } from './timeline.js';
import { describeAttempt, type Violate } from './violations.js';

export type ReplayedCredential = 'code' | 'device code' | 'refresh token';

/** Test oracle: checks each response against earlier responses and faults. Times come only from the attempts. */
export class Model {
  readonly statistics = newStatistics();
  /** Revoked grants, in the order of confirmation. */
  readonly revoked: Grant[] = [];

  constructor(
    private readonly timeline: Timeline,
    private readonly retryWindow: number,
    private readonly violate: Violate,
  ) {}

  /** @param attempts all requests that redeemed one code */
  checkRedemption(grant: Grant, attempts: readonly Attempt[]): void {
    const earlierWins = grant.pairs.length;
    this.addHistory(grant, attempts);
    const wins = attempts.filter(({ status }) => status === 200);
    for (const win of wins)
      this.checkNotRevoked(grant, win, 'a code is accepted after its grant was revoked');
    const allWins = earlierWins + wins.length;
    if (allWins > 1) this.report(grant, 'a code is redeemed once', wins, `it was redeemed ${allWins} times`);
    for (const win of wins) this.addTokenPair(grant, win);
    const refused = attempts.filter(({ status }) => status === 400);
    const won = grant.pairs.length > 0;
    // A request without a response may have redeemed the code. A retry is then the second use. After a 503, the code is
    // still valid.
    // Two requests in flight are two uses, even if the first one gets 503 afterwards (RFC 6749 4.1.2).
    const second = refused.find(({ answeredAt }) =>
      attempts.some(
        (first) =>
          isUnavailable(first) &&
          first.mayHaveTakenEffect &&
          first.sentAt < answeredAt &&
          first.answeredAt > answeredAt,
      ),
    );
    const explained = (attempt: Attempt) =>
      won ||
      (second !== undefined && attempt.answeredAt >= second.answeredAt) ||
      this.mayBeRevoked(grant, attempt) ||
      attempts.some((other) => other !== attempt && other.status === 0 && other.mayHaveTakenEffect) ||
      attempts.some((other) => other !== attempt && isUnconfirmed(other)) ||
      this.timeline.restartedRedis(grant.issuedAt, attempt.answeredAt);
    const wrong = refused.filter((attempt) => !explained(attempt));
    if (wrong.length > 0) this.report(grant, 'an honest client gets tokens for its code', wrong);
    for (const attempt of refused) {
      this.confirmIfRevoked(grant, attempt);
      // RFC 6749 4.1.2: a second redemption is rejected and revokes the tokens of the first.
      if (won && !this.timeline.lostData(grant.issuedAt, attempt.answeredAt))
        this.revocationConfirmed(grant, attempt.answeredAt);
    }
    // A second redemption without a response, or with 503, may also have revoked the grant.
    const [win] = wins;
    const repeated =
      win &&
      attempts.find(
        (attempt) => isUnavailable(attempt) && attempt.mayHaveTakenEffect && attempt.answeredAt >= win.sentAt,
      );
    if (repeated) this.revocationRequested(grant, 'its code may have been presented twice', repeated.sentAt);
    if (!won && refused.length > 0) this.statistics.lostCodes += 1;
  }

  /** @param attempts all requests of an honest client with one refresh token */
  checkRefresh(grant: Grant, attempts: readonly Attempt[]): void {
    this.checkRepeatable(grant, attempts, {
      credential: 'a refresh token',
      refusal: 'an honest client is not logged out',
      explains: () => false,
    });
  }

  /**
   * Checks RFC 8628 3.4 and the retry window.
   * @param attempts all polls of an honest device after the user's consent
   */
  checkPolls(grant: Grant, attempts: readonly Attempt[]): void {
    this.checkRepeatable(grant, attempts, {
      credential: 'a device code',
      refusal: 'an honest client gets tokens for its code',
      explains: ({ answeredAt }) => this.timeline.restartedRedis(grant.issuedAt, answeredAt),
    });
    if (grant.newest) this.statistics.deviceGrants += 1;
    else if (attempts.some(({ status }) => status === 400)) this.statistics.lostCodes += 1;
  }

  /**
   * @param rules `refusal` is violated by a rejection, unless the grant may be revoked, the request was late, or
   * `explains` returns true
   */
  private checkRepeatable(
    grant: Grant,
    attempts: readonly Attempt[],
    rules: {
      readonly credential: string;
      readonly refusal: string;
      readonly explains: (attempt: Attempt) => boolean;
    },
  ): void {
    const { credential, refusal, explains } = rules;
    this.addHistory(grant, attempts);
    const granted = attempts.filter(({ status }) => status === 200);
    for (const attempt of granted)
      this.checkNotRevoked(grant, attempt, `${credential} is accepted after its grant was revoked`);
    this.checkOneSuccessor(grant, granted, `${credential} has one successor`);
    const [first] = granted;
    if (first) {
      this.addTokenPair(grant, first);
      if (
        attempts.some(
          (attempt) =>
            attempt.answeredAt < first.answeredAt && isUnavailable(attempt) && attempt.mayHaveTakenEffect,
        )
      )
        this.statistics.retriedRefreshes += 1;
    }
    // Redis does not execute a request later that got 503. It may have executed the request before its response was lost.
    const effective = attempts.filter((attempt) => attempt.mayHaveTakenEffect);
    const firstUse = Math.min(...effective.map(({ sentAt }) => sentAt));
    const late = (attempt: Attempt) =>
      attempt.answeredAt - firstUse >= this.retryWindow && effective.some((other) => other !== attempt);
    if (attempts.some((attempt) => !isUnavailable(attempt) && late(attempt)))
      this.statistics.lateRefreshes += 1;
    for (const attempt of attempts.filter(({ status }) => status === 400)) {
      const isExplained = this.mayBeRevoked(grant, attempt) || explains(attempt);
      this.confirmIfRevoked(grant, attempt);
      if (isExplained) continue;
      if (late(attempt)) this.statistics.lateRefusals += 1;
      else this.report(grant, refusal, [attempt]);
      grant.revocation ??= {
        reason: `${credential} was refused`,
        requestedAt: attempt.sentAt,
        confirmedAt: null,
      };
    }
  }

  checkAccessToken(grant: Grant, pair: TokenPair, attempt: Attempt, accepted: boolean): void {
    if (isUnavailable(attempt)) return;
    if (accepted)
      return this.checkNotRevoked(grant, attempt, 'an access token is accepted after its grant was revoked');
    if (grant.revocation?.confirmedAt) this.statistics.revokedUsesRefused += 1;
    if (this.mayBeRevoked(grant, attempt)) return;
    this.addHistory(grant, [attempt]);
    this.report(
      grant,
      'an access token of an honest client is accepted',
      [attempt],
      `it was issued at ${Math.round(pair.receivedAt)} ms`,
    );
  }

  checkRevokedCredential(grant: Grant, attempt: Attempt): void {
    if (isUnavailable(attempt)) return;
    if (attempt.status !== 200) {
      this.statistics.revokedUsesRefused += 1;
      return;
    }
    this.addHistory(grant, [attempt]);
    this.checkNotRevoked(grant, attempt, 'a code or refresh token is accepted after its grant was revoked');
  }

  /**
   * Checks that a late replay is rejected and revokes the grant (RFC 6749 4.1.2, RFC 9700 4.14.2).
   * @param since time at which the code was redeemed, or the refresh token was issued
   */
  checkReplay(grant: Grant, attempt: Attempt, what: ReplayedCredential, since: number): void {
    this.addHistory(grant, [attempt]);
    grant.revocation ??= {
      reason: `its ${what} was replayed`,
      requestedAt: attempt.sentAt,
      confirmedAt: null,
    };
    if (isUnavailable(attempt)) return;
    if (what === 'code') this.statistics.codeReplays += 1;
    else this.statistics.refreshTokenReplays += 1;
    // If Redis has lost its data, the code and the generation of the refresh token are gone.
    const lost = this.timeline.lostData(since, attempt.answeredAt);
    if (attempt.status !== 200)
      return lost
        ? this.confirmIfRevoked(grant, attempt)
        : this.revocationConfirmed(grant, attempt.answeredAt);
    if (what !== 'code' && lost) this.statistics.replaysAcceptedAfterDataLoss += 1;
    else this.report(grant, `a replayed ${what} is refused`, [attempt]);
  }

  /** Records that tokens may be rejected from `requestedAt` on. */
  revocationRequested(grant: Grant, reason: string, requestedAt: number): void {
    grant.history.push(`${Math.round(requestedAt)} ms: ${reason}`);
    grant.revocation ??= { reason, requestedAt, confirmedAt: null };
  }

  /** Records that tokens must be rejected from `confirmedAt` on. */
  revocationConfirmed(grant: Grant, confirmedAt: number): void {
    grant.history.push(`${Math.round(confirmedAt)} ms: the revocation is confirmed`);
    grant.revocation ??= { reason: 'it was revoked', requestedAt: confirmedAt, confirmedAt: null };
    if (grant.revocation.confirmedAt !== null) return;
    grant.revocation.confirmedAt = confirmedAt;
    this.statistics.revocations += 1;
    this.revoked.push(grant);
  }

  checkProofReplay(grant: Grant, attempts: readonly Attempt[]): void {
    this.statistics.proofReplays += 1;
    const accepted = attempts.filter(({ status }) => status === 200);
    if (accepted.length < 2 || this.lostDataDuring(attempts)) return;
    this.report(grant, 'a DPoP proof is accepted once', accepted);
  }

  private addHistory(grant: Grant, attempts: readonly Attempt[]): void {
    grant.history.push(...attempts.map(describeAttempt));
  }

  private report(
    grant: Grant,
    rule: string,
    attempts: readonly Attempt[],
    detail?: string,
    timeDependent = false,
  ): void {
    const since =
      Math.min(grant.revocation?.requestedAt ?? Infinity, ...attempts.map(({ sentAt }) => sentAt)) -
      this.retryWindow;
    this.violate({
      rule,
      attempts,
      history: grant.history,
      since,
      timeDependent,
      ...(detail !== undefined && { detail }),
    });
  }

  private addTokenPair(grant: Grant, { text, answeredAt: receivedAt }: Attempt): void {
    const body = JSON.parse(text) as { access_token: string; refresh_token: string };
    grant.pairs.push({ accessToken: body.access_token, refreshToken: body.refresh_token, receivedAt });
  }

  /** Reports a credential with two successors (RFC 9700 4.14.2). */
  private checkOneSuccessor(grant: Grant, granted: readonly Attempt[], rule: string): void {
    const tokens = new Set(
      granted.map(({ text }) => (JSON.parse(text) as { refresh_token: string }).refresh_token),
    );
    if (tokens.size < 2) return;
    if (this.lostDataDuring(granted)) return;
    this.report(grant, rule, granted);
  }

  private lostDataDuring(attempts: readonly Attempt[]): boolean {
    const times = attempts.flatMap(({ sentAt, answeredAt }) => [sentAt, answeredAt]);
    return this.timeline.lostData(Math.min(...times), Math.max(...times));
  }

  private confirmIfRevoked(grant: Grant, { text, answeredAt }: Attempt): void {
    if (/was used before|has been revoked/.test(text)) this.revocationConfirmed(grant, answeredAt);
  }

  private mayBeRevoked({ revocation }: Grant, { answeredAt }: Attempt): boolean {
    return revocation !== null && revocation.requestedAt <= answeredAt;
  }

  private checkNotRevoked(grant: Grant, attempt: Attempt, rule: string): void {
    const { revocation } = grant;
    if (revocation === null || revocation.confirmedAt === null || attempt.sentAt <= revocation.confirmedAt)
      return;
    const delay = attempt.sentAt - revocation.confirmedAt;
    // The token app does not cache grants: it reads Redis, which stores a revocation before the confirmation.
    const atApi = attempt.servedBy.startsWith('resource');
    const maxDelay = atApi ? this.timeline.maxRevocationDelay(revocation.requestedAt, attempt.sentAt) : 0;
    if (delay > maxDelay) {
      this.addHistory(grant, [attempt]);
      const detail = `${Math.round(delay)} ms after: ${revocation.reason}; at most ${maxDelay} ms are allowed`;
      return this.report(grant, rule, [attempt], detail, atApi);
    }
    const { statistics } = this;
    statistics.revokedUsesAccepted += 1;
    const when = maxDelay > PROPAGATION_MS ? 'withFault' : 'withoutFault';
    statistics.latestAcceptedUse[when] = Math.max(statistics.latestAcceptedUse[when], delay);
  }
}
