import type { ClientWithSecrets } from '#database/client/client.js';
import { isClientId } from '#oauth/client.js';
import { DependencyUnavailableError } from '#platform/dependency-unavailable.error.js';
import { warn } from '../command-line/output.js';
import { withStores } from '../connections/database.connection.js';
import type { Stores } from '../connections/stores.js';
import type { DatabaseSettings } from '../settings/settings.js';

export interface GrantOwner {
  readonly clientId: string;
  readonly userId: number;
}

/**
 * Looks up the owners of grants, and the registrations of clients. The event of a refused API request only names the grant,
 * because the token app refuses most tokens without reading a store. Without PostgreSQL, finds nothing and warns once.
 * Identifiers of events are untrusted: those that PostgreSQL would reject, such as text with NUL, are not looked up.
 */
export class GrantOwners {
  private isUnavailable = false;

  constructor(private readonly settings: DatabaseSettings) {}

  async find(grantId: string): Promise<GrantOwner | null> {
    return isClientId(grantId) ? this.ask(({ grants }) => grants.find(grantId), null) : null;
  }

  ofClient(clientId: string, grantIds: readonly string[]): Promise<ReadonlySet<string>> {
    return this.ask(
      ({ grants }) => grants.ofClient(clientId, grantIds.filter(isClientId)),
      new Set<string>(),
    );
  }

  /** Returns the current registration; null if there is none, undefined without PostgreSQL. */
  async client(clientId: string): Promise<ClientWithSecrets | null | undefined> {
    return isClientId(clientId) ? this.ask(({ clients }) => clients.find(clientId), undefined) : null;
  }

  private async ask<T>(question: (stores: Stores) => Promise<T>, unknown: T): Promise<T> {
    if (this.isUnavailable) return unknown;
    try {
      return await withStores(this.settings, question);
    } catch (error) {
      if (!(error instanceof DependencyUnavailableError)) throw error;
      warn(
        'PostgreSQL (DATABASE_URL) does not answer: registrations, and the applications of API requests, are unknown',
      );
      this.isUnavailable = true;
      return unknown;
    }
  }
}
