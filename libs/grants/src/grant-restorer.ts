import type { DurableGrants } from './durable-grants.js';
import { grantId } from './grant-id.js';
import { GrantStoreUnavailableError } from './grant-store-unavailable.error.js';
import type { ObserveTransition } from './grant-transition.js';
import type { GrantStore, Transition } from './grant.store.js';
import { grantTtl, type Lifetimes } from './lifetimes.js';
import type { Token } from './token-codec.js';
import type { TokenIssuer } from './token-issuer.js';

export interface GrantRestorerParts {
  readonly store: GrantStore;
  readonly issuer: TokenIssuer;
  readonly durable: DurableGrants;
  readonly lifetimes: Lifetimes;
  readonly observe?: ObserveTransition;
}

/** How many times one request restores a grant. */
const TRIES = 4;

/** Restores a grant that Redis has lost, from its record in PostgreSQL and an authentic token. */
export class GrantRestorer {
  constructor(private readonly parts: GrantRestorerParts) {}

  /**
   * Runs a transition. If Redis has lost the grant, restores it from its record and runs the transition again. If Redis
   * keeps losing it, fails with an error that clients retry, so that nobody is logged out.
   *
   * @param token decoded with a proof of its key, if bound: the restored grant gets exactly this binding
   * @throws GrantStoreUnavailableError when Redis keeps losing the grant
   */
  async run(token: Token, transition: () => Promise<Transition>): Promise<Transition> {
    const { store, durable } = this.parts;
    const id = grantId(token.handle);
    for (let tries = 0; tries < TRIES; tries++) {
      const result = await transition();
      if (result.outcome !== 'unknown') return result;
      const note = await store.miss(id);
      if (note === null) {
        // The grant exists: another request restored it, or Redis lost only the token's narrowed scope.
        if (token.narrowed) return result;
        continue;
      }
      const record = await durable.find(id);
      if (!record) return result;
      if (record.revokedAt) return { outcome: 'revoked', grantId: id };
      const { clientId, userId, scope } = record;
      const { generation, jkt } = token;
      const rotatedAt = this.parts.issuer.issuedAt(token);
      const lost = { clientId, userId, scope, generation, rotatedAt, jkt };
      await store.restore(id, lost, note, grantTtl(this.parts.lifetimes));
      this.parts.observe?.('restored');
    }
    throw new GrantStoreUnavailableError('Redis loses grants faster than they are restored');
  }
}
