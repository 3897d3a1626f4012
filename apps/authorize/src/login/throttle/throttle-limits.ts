/** At most so many failures in any span of so many milliseconds. */
export interface ThrottleLimit {
  readonly failures: number;
  readonly window: number;
}

const MINUTE = 60_000;

/**
 * What a guesser gets. Constants, because each is a balance that a deployment cannot judge better: people who
 * mistype need few tries, and whoever guesses needs thousands.
 */
export const THROTTLE_LIMITS = {
  /** One address at one account. NIST SP 800-63B 5.2.2 allows 100 in a row; nobody mistypes more than some. */
  addressAndLogin: { failures: 5, window: 15 * MINUTE },
  /** One address at all accounts: an office of hundreds behind one address stays under it, a list of leaked passwords does not. */
  address: { failures: 50, window: 15 * MINUTE },
  /** All unknown devices at one account: more than any owner makes, hence guessing from many addresses. */
  login: { failures: 100, window: 60 * MINUTE },
  /**
   * One address at one account while it is guessed at so, of IPv6 one site: there are 65 536 networks of 64 bits in one.
   * Not 0: its owner at a new place must not be locked out.
   */
  addressAndLoginUnderAttack: { failures: 1, window: 15 * MINUTE },
  /** One device at the account that has logged in there. It may be stolen: then it is worth this, and no more. */
  device: { failures: 20, window: 15 * MINUTE },
} as const satisfies Record<string, ThrottleLimit>;

/** For how many days a device stays known after a login. */
export const DEVICE_DAYS = 180;

/** For how many accounts one browser can be known: people share one, and few more than this. */
export const DEVICE_ACCOUNTS = 3;
