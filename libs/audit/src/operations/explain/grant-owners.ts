import type { ClientWithSecrets } from '#clients/client.js';
import type { ClientStore } from '#clients/client.store.js';
import type { GrantAdministrationStore } from '#grants/records/grant-administration.store.js';
import { isClientId } from '#oauth/oauth-client.js';
import { warningText } from '#operations/failure-text.js';
import { DependencyUnavailableError } from '#platform/errors.js';
import { problem } from '#platform/validation/problem.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    registrations_unknown: null;
  }
}

export interface GrantOwner {
  readonly clientId: string;
  readonly userId: number;
}

/** Without PostgreSQL, adds one warning and finds nothing. Ignores untrusted identifiers that PostgreSQL rejects. */
export class GrantOwners {
  readonly warnings: string[] = [];

  constructor(
    private readonly clients: ClientStore,
    private readonly grants: GrantAdministrationStore,
  ) {}

  async find(grantId: string): Promise<GrantOwner | null> {
    return isClientId(grantId) ? this.ask(() => this.grants.find(grantId), null) : null;
  }

  ofClient(clientId: string, grantIds: readonly string[]): Promise<ReadonlySet<string>> {
    return this.ask(() => this.grants.ofClient(clientId, grantIds.filter(isClientId)), new Set<string>());
  }

  /** Returns the current registration; null for an unknown client, undefined without PostgreSQL. */
  async client(clientId: string): Promise<ClientWithSecrets | null | undefined> {
    return isClientId(clientId) ? this.ask(() => this.clients.find(clientId), undefined) : null;
  }

  async ask<T>(question: () => Promise<T>, unknown: T): Promise<T> {
    if (this.warnings.length > 0) return unknown;
    try {
      return await question();
    } catch (error) {
      if (!(error instanceof DependencyUnavailableError)) throw error;
      this.warnings.push(warningText(problem('registrations_unknown', [])));
      return unknown;
    }
  }
}
