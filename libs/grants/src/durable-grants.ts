import type { Authorization } from './grant.js';

/** The durable truth of what users allowed (PostgreSQL), as far as the grant engine needs it. */
export interface DurableGrants {
  /** The grant's record, or null when there never was one or it expired. */
  find(id: string): Promise<(Authorization & { readonly revokedAt: Date | null }) | null>;
  /** Marks the record revoked; resolves once that is durable. Calling it again changes nothing. */
  revoke(id: string): Promise<unknown>;
}

/** Tells every process that a grant is revoked, so that no cache answers for it any more. */
export type AnnounceRevocation = (id: string) => void;
