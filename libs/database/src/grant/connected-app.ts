import type { ClientType } from '../client/client.js';

/** An application that a user lets in: all live grants of one client together. */
export interface ConnectedApp {
  readonly clientId: string;
  readonly name: string;
  /** Digest of its image; null when it has none. */
  readonly logo: string | null;
  readonly firstParty: boolean;
  readonly clientType: ClientType;
  /** What any of the grants allows, in alphabetical order. */
  readonly scopes: readonly string[];
  /** When the oldest of the grants was allowed. */
  readonly since: Date;
  /** UTC day, YYYY-MM-DD; null when none was ever used. */
  readonly lastUsedOn: string | null;
  readonly grants: number;
}
