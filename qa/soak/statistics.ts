/** Counts of events that are not violations. */
export interface Statistics {
  /** Codes redeemed twice at the same time, and codes replayed later. */
  codeRaces: number;
  codeReplays: number;
  /** Refresh tokens replayed outside the retry window, and those that were accepted because Redis had lost its data. */
  refreshTokenReplays: number;
  replaysAcceptedAfterDataLoss: number;
  /** Refreshes by several workers at once. */
  parallelRefreshes: number;
  /** Refreshes that succeeded on a retry after a lost answer. */
  retriedRefreshes: number;
  /** Refreshes that an outage delayed beyond the retry window, and those of them that were refused. */
  lateRefreshes: number;
  lateRefusals: number;
  /** Codes lost to a lost answer or to a restart of Redis: the user authorizes again. */
  lostCodes: number;
  /** Confirmed revocations, and refused uses of revoked credentials. */
  revocations: number;
  revokedUsesRefused: number;
  /** Uses that an API accepted before the revocation reached it, and the latest of them: milliseconds after the confirmation. */
  revokedUsesAccepted: number;
  latestAcceptedUse: { withoutFault: number; withFault: number };
  proofReplays: number;
}

export function newStatistics(): Statistics {
  return {
    codeRaces: 0,
    codeReplays: 0,
    refreshTokenReplays: 0,
    replaysAcceptedAfterDataLoss: 0,
    parallelRefreshes: 0,
    retriedRefreshes: 0,
    lateRefreshes: 0,
    lateRefusals: 0,
    lostCodes: 0,
    revocations: 0,
    revokedUsesRefused: 0,
    revokedUsesAccepted: 0,
    latestAcceptedUse: { withoutFault: 0, withFault: 0 },
    proofReplays: 0,
  };
}
