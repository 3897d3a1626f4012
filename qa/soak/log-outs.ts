import type { LogoutClaims } from '../logout-receiver.js';
import type { Statistics } from './report.js';
import type { Timeline } from './timeline.js';
import type { Violate } from './violations.js';

/** Log-out of a user at one application. Times are milliseconds since the soak began. */
export interface LogOut {
  readonly sub: string;
  /** Null for all sessions of the user. */
  readonly sids: readonly string[] | null;
  readonly sentAt: number;
  /** Null if the log-out may have had no effect. */
  confirmedAt: number | null;
}

/** Checks that every log-out reaches its application (section 2.5 of OpenID Connect Back-Channel Logout 1.0). */
export class LogOuts {
  private readonly requested: LogOut[] = [];
  private readonly received: (LogoutClaims & { readonly at: number })[] = [];

  constructor(
    private readonly timeline: Timeline,
    private readonly violate: Violate,
    private readonly statistics: Statistics,
  ) {}

  /** Must be called before the request, because the logout token may arrive before the response. */
  request(sub: string, sids: readonly string[] | null): LogOut {
    const logOut = { sub, sids, sentAt: this.timeline.now(), confirmedAt: null };
    this.requested.push(logOut);
    this.statistics.logOuts += 1;
    return logOut;
  }

  receive(claims: LogoutClaims): void {
    const at = this.timeline.now();
    this.statistics.logoutTokens += 1;
    if (this.received.some(({ jti }) => jti === claims.jti)) this.statistics.repeatedLogoutTokens += 1;
    this.received.push({ ...claims, at });
    const isRequested = this.requested.some(
      ({ sub, sids }) => sub === claims.sub && (sids === null) === (claims.sid === undefined),
    );
    if (isRequested) return;
    const detail = `user ${claims.sub}, ${claims.sid === undefined ? 'every session' : 'one session'}`;
    this.violate({ rule: 'a logout token follows a log-out', detail, since: at });
  }

  /** Returns confirmed log-outs that have no logout token. */
  missing(): LogOut[] {
    return this.requested.filter((logOut) => logOut.confirmedAt !== null && !this.isKnown(logOut));
  }

  reportMissing(): void {
    for (const { sub, sids, sentAt } of this.missing()) {
      const what = sids === null ? 'every session' : `${sids.length} sessions`;
      const detail = `user ${sub}, ${what}, logged out at ${Math.round(sentAt)} ms`;
      const rule = 'a log-out reaches the application';
      this.violate({ rule, detail, since: sentAt, timeDependent: true });
    }
  }

  private isKnown({ sub, sids, sentAt }: LogOut): boolean {
    const tokens = this.received.filter((token) => token.sub === sub && token.at >= sentAt);
    if (sids === null) return tokens.some(({ sid }) => sid === undefined);
    return sids.every((sid) => tokens.some((token) => token.sid === sid));
  }
}
