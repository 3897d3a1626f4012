import { DependencyUnavailableError } from '#platform/dependency-unavailable.error.js';
import { warn } from '../command-line/output.js';
import { withStores } from '../connections/database.connection.js';
import type { Stores } from '../connections/stores.js';
import type { DatabaseSettings } from '../settings/settings.js';

/** Whose a grant is. */
export interface GrantOwner {
  readonly clientId: string;
  readonly userId: number;
}

/**
 * The clients and users of grants. The event of a token that an API refused names only the grant, because the token app refuses
 * most of them without reading a store. Without PostgreSQL nobody is found, and a warning says so.
 */
export class GrantOwners {
  constructor(private readonly settings: DatabaseSettings) {}

  find(grantId: string): Promise<GrantOwner | null> {
    return this.ask(({ grants }) => grants.find(grantId), null);
  }

  /** Which of some grants are to this client. */
  ofClient(clientId: string, grantIds: readonly string[]): Promise<ReadonlySet<string>> {
    return this.ask(({ grants }) => grants.ofClient(clientId, grantIds), new Set<string>());
  }

  /** Whether the client is registered; assumed without PostgreSQL. */
  async knowsClient(clientId: string): Promise<boolean> {
    return this.ask(async ({ clients }) => (await clients.find(clientId)) !== null, true);
  }

  private async ask<T>(question: (stores: Stores) => Promise<T>, unknown: T): Promise<T> {
    try {
      return await withStores(this.settings, question);
    } catch (error) {
      if (!(error instanceof DependencyUnavailableError)) throw error;
      warn('PostgreSQL (DATABASE_URL) does not answer: calls of APIs cannot be assigned to applications');
      return unknown;
    }
  }
}
