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

/** How often a grant that Redis does not have is put back in one request. */
const TRIES = 4;

/** Puts back what Redis has lost, from the record in PostgreSQL and what an authentic token says (DESIGN 3). */
export class GrantRestorer {
  constructor(private readonly parts: GrantRestorerParts) {}

  /**
   * Runs a transition; when Redis has lost the grant, restores it from its record and runs it once more. When Redis
   * loses it again and again nothing is known, and nobody is logged out because of it.
   *
   * @param token read with the key that it is bound to, if any: what is restored has that binding, and no other
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
        // It is there: put back meanwhile, or it is the token's narrowed scope alone that Redis has lost.
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
    throw new GrantStoreUnavailableError('it loses grants faster than they are put back');
  }
}
