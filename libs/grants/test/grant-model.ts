import type { RequestedAccess } from '#grants/grant.js';
import { DEFAULT_LIFETIMES } from '#grants/lifetimes.js';

export const LIFETIMES = { ...DEFAULT_LIFETIMES, retryWindow: 30 };

export const SCOPE = 'profile:read bookings:read bookings:write';
export const [API, BOOKINGS] = ['https://api.example.com', 'https://bookings.example.com'];
export const KEYS = ['A', 'E', 'I'].map((letter) => letter.repeat(43)) as [string, string, string];

export interface Presented {
  readonly isOwner: boolean;
  readonly hasKeys: boolean;
  readonly jkt: string | null;
}

export const words = (scope: string) => scope.split(' ').sort().join(' ');
/** Sorted words that both texts contain. */
export const common = (granted: string, requested: string) =>
  words(
    granted
      .split(' ')
      .filter((word) => requested.split(' ').includes(word))
      .join(' '),
  );
const covers = (granted: string, requested: string) => common(granted, requested) === words(requested);

/** Model of a grant, which returns the expected outcome of each request. */
export class Model {
  status: 'pending' | 'active' | 'revoked' = 'pending';
  generation = 0;
  rotatedAt: number;
  private boundTo: (string | null)[] = [];
  /** The client of the request that made the last transition got an error. */
  private isGivenUp = false;

  /**
   * @param namedJkt key of the authorization request (RFC 9449 10)
   * @param resources APIs of the authorization request (RFC 8707)
   */
  constructor(
    readonly createdAt: number,
    readonly namedJkt: string | null,
    readonly resources: string | null,
    private readonly retryWindow = LIFETIMES.retryWindow,
  ) {
    this.rotatedAt = createdAt;
  }

  /**
   * Applies a request whose response is lost. The engine does not learn the result, so the request revokes nothing, and
   * does not repeat an earlier request that was given up.
   */
  lose(request: () => string): void {
    const { status, generation, rotatedAt, boundTo, isGivenUp } = this;
    this.boundTo = [...boundTo];
    this.isGivenUp = false;
    const outcome = request();
    if (outcome === 'granted' && (this.generation !== generation || this.status !== status))
      this.isGivenUp = true;
    else Object.assign(this, { status, generation, rotatedAt, boundTo, isGivenUp });
  }

  redeem(
    { isOwner, jkt }: Presented,
    redirectMatches: boolean,
    resources: string | null,
    now: number,
  ): string {
    if (!isOwner) return 'other_client';
    if (this.status === 'revoked') return 'revoked';
    if (this.status === 'active') {
      if (!this.isGivenUp || this.generation !== 1) return this.end('code_replayed');
      // The code is as if it had not been redeemed.
      [this.status, this.generation, this.boundTo] = ['pending', 0, []];
    }
    if (now / 1000 > Math.floor(this.createdAt / 1000) + LIFETIMES.code + LIFETIMES.clockSkew)
      return 'expired';
    if (!redirectMatches) return 'redirect_uri_mismatch';
    if (this.namedJkt !== null && jkt !== this.namedJkt) return 'key_mismatch';
    if (!this.isFor(resources)) return 'resource_exceeded';
    return this.rotate(1, jkt, now);
  }

  refresh(
    generation: number,
    { isOwner, hasKeys }: Presented,
    { scope, resources, jkt }: RequestedAccess,
    now: number,
    keepsRefreshToken = false,
  ): string {
    if (!isOwner) return 'other_client';
    if (this.status === 'revoked') return 'revoked';
    const isRetry =
      generation === this.generation - 1 &&
      ((this.retryWindow === 0 && this.isGivenUp) || now - this.rotatedAt < this.retryWindow * 1000);
    if (generation < this.generation && !isRetry) return this.end('refresh_token_reused');
    const bound = this.keyOf(generation);
    if (!hasKeys || jkt === null) {
      if (bound !== jkt) return bound === null ? 'key_unexpected' : 'key_mismatch';
      // The client had keys when it rotated this token with another key, and now has a secret or proves no key.
      if (isRetry && jkt !== this.jkt) return 'key_mismatch';
    }
    if (scope !== null && common(SCOPE, scope) === '') return 'scope_not_granted';
    if (!this.isFor(resources)) return 'resource_exceeded';
    if (isRetry) {
      if (this.retryWindow === 0) this.isGivenUp = false;
      return 'granted';
    }
    const isKept = keepsRefreshToken && bound !== null;
    return isKept ? 'granted' : this.rotate(generation + 1, jkt, now);
  }

  introspect(bound: string | null, jkt: string | null): string {
    if (bound !== null && jkt !== bound) return 'key_mismatch';
    return this.status === 'revoked' ? 'revoked' : 'active';
  }

  get jkt(): string | null {
    return this.keyOf(this.generation);
  }

  keyOf(generation: number): string | null {
    return this.boundTo[generation] ?? null;
  }

  revoke(): void {
    this.status = 'revoked';
  }

  private isFor(resources: string | null): boolean {
    return this.resources === null || resources === null || covers(this.resources, resources);
  }

  private rotate(generation: number, jkt: string | null, now: number): string {
    this.isGivenUp = false;
    [this.status, this.generation, this.rotatedAt] = ['active', generation, now];
    this.boundTo[generation] = jkt;
    return 'granted';
  }

  private end(outcome: string): string {
    this.revoke();
    return outcome;
  }
}
