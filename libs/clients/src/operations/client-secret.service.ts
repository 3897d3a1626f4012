import { Injectable } from '@nestjs/common';
import type { ClientCondition, ClientSecretRecord } from '../client.js';
import { ClientSecretStore, type SecretOutcome } from '../client-secret.store.js';
import { ClientStore } from '../client.store.js';
import { generateClientSecret } from '#oauth/oauth-client.js';
import {
  AdministrationError,
  type Expected,
  refused,
  unlessOutdated,
} from '#operations/administration.error.js';
import { problem } from '#platform/validation/problem.js';
import { AdministrationOptions } from '#operations/administration.options.js';
import { Announcer } from '#operations/announcer.js';
import { type Actor, type Change, isOwner } from '#operations/audit-trail.js';
import { type Input, validated } from '#operations/operation-input.js';
import { MayBeAbsent, WholeNumber } from '#platform/validation/validate.js';
import { identifyClient, unknownClient } from './client-lookup.js';
import { checkPrivileges, conditionBy } from './privileged-client.js';
import { isConsoleClient } from './console-client.js';

export interface SecretView {
  readonly id: string;
  readonly created_at: string;
  /** Start of the hour of the last use. */
  readonly last_used_at: string | null;
  /** Absent for a secret that does not expire. */
  readonly expires_at?: string;
}

export class NewSecretDto {
  @WholeNumber(1, 730)
  @MayBeAbsent()
  expiresInDays?: number;
}

export interface RotatedSecret {
  readonly client_id: string;
  /** Never stored. */
  readonly client_secret: string;
  readonly secret_id: string;
  readonly secrets: readonly SecretView[];
}

export interface RevokedSecret {
  readonly client_id: string;
  readonly revoked: string;
  readonly secrets: readonly SecretView[];
}

interface SecretUsage {
  readonly id: string;
  /** Day, like 2026-01-31. */
  readonly createdOn: string;
  /** Minute, like 2026-01-31 18:00. */
  readonly lastUsedAt: string | null;
}

declare module '#platform/validation/problem.js' {
  interface Problems {
    public_client: { readonly clientId: string };
    key_client: { readonly clientId: string };
    /** The problem, followed by one for each secret. */
    two_live_secrets:
      { readonly clientId: string; readonly secret: SecretUsage } | { readonly secret?: never };
    /** `isConsole` for the application by which operators log in. */
    last_live_secret: { readonly clientId: string; readonly isConsole: boolean };
    secret_unknown: { readonly clientId: string; readonly secretId: string };
  }
}

/** Methods accept the client_id, or a name that only one client has. */
@Injectable()
export class ClientSecretService {
  constructor(
    private readonly clients: ClientStore,
    private readonly secrets: ClientSecretStore,
    private readonly announcer: Announcer,
    private readonly options: AdministrationOptions,
  ) {}

  async list(
    idOrName: string,
  ): Promise<{ readonly client_id: string; readonly secrets: readonly SecretView[] }> {
    const clientId = await identifyClient(this.clients, idOrName);
    return { client_id: clientId, secrets: liveSecrets(await this.secrets.list(clientId), clientId) };
  }

  async find(idOrName: string, secretId: string): Promise<SecretView> {
    const { secrets } = await this.list(idOrName);
    const secret = secrets.find(({ id }) => id === secretId);
    return secret ?? unknownSecret(idOrName, secretId);
  }

  /** Adds a second secret, for an operator or an owner of the client. */
  async rotate(
    actor: Actor,
    idOrName: string,
    expected?: Expected,
    input: Input<NewSecretDto> = {},
  ): Promise<Change<RotatedSecret>> {
    const { expiresInDays: days } = validated(NewSecretDto, input);
    const expiresAt = days === undefined ? null : new Date(Date.now() + days * 86_400_000);
    const clientId = await identifyClient(this.clients, idOrName);
    const { secret, hash } = generateClientSecret();
    const outcome = await unlessOutdated(
      'application',
      this.secrets.add(clientId, hash, this.conditionOf(actor, expected), expiresAt),
    );
    const live = liveSecrets(outcome, clientId);
    const secretId = live.at(-1)?.id ?? '';
    return {
      result: { client_id: clientId, client_secret: secret, secret_id: secretId, secrets: live },
      announced: this.announcer.clientsChanged(actor, [clientId], {
        type: 'client_secret.rotated',
        client_id: clientId,
        detail: { secret_id: secretId },
      }),
    };
  }

  /** @param force true also revokes the last secret, which locks the application out */
  async revoke(
    actor: Actor,
    idOrName: string,
    secretId: string,
    force = false,
    expected?: Expected,
  ): Promise<Change<RevokedSecret>> {
    const clientId = await identifyClient(this.clients, idOrName);
    const outcome = await unlessOutdated(
      'application',
      this.secrets.revoke(clientId, secretId, force, this.conditionOf(actor, expected)),
    );
    if (outcome.outcome === 'last_live')
      throw lastSecret(clientId, !isOwner(actor) && (await this.isConsole(clientId)));
    const live = liveSecrets(outcome, clientId, secretId);
    return {
      result: { client_id: clientId, revoked: secretId, secrets: live },
      announced: this.announcer.clientsChanged(actor, [clientId], {
        type: 'client_secret.revoked',
        client_id: clientId,
        detail: { secret_id: secretId, live_secrets: live.length },
      }),
    };
  }

  private conditionOf(actor: Actor, expected: Expected = {}): ClientCondition {
    const { CONSOLE_URL } = this.options.settings;
    return {
      ...conditionBy(actor, expected),
      check: (client) => checkPrivileges(actor, client, CONSOLE_URL),
    };
  }

  private async isConsole(clientId: string): Promise<boolean> {
    const client = await this.clients.find(clientId);
    return client !== null && isConsoleClient(client.redirectUris, this.options.settings.CONSOLE_URL);
  }
}

function liveSecrets(outcome: SecretOutcome, clientId: string, secretId = ''): SecretView[] {
  switch (outcome.outcome) {
    case 'done':
      return outcome.live.map(({ id, createdAt, lastUsedAt, expiresAt }) => ({
        id,
        created_at: createdAt.toISOString(),
        last_used_at: lastUsedAt?.toISOString() ?? null,
        ...(expiresAt && { expires_at: expiresAt.toISOString() }),
      }));
    case 'unknown_client':
      throw unknownClient(clientId);
    case 'public_client':
      throw refused('conflict', problem('public_client', [], { clientId }));
    case 'key_client':
      throw refused('conflict', problem('key_client', [], { clientId }));
    case 'two_live':
      throw new AdministrationError('conflict', [
        problem('two_live_secrets', [], {}),
        ...outcome.live.map((secret) =>
          problem('two_live_secrets', [], { clientId, secret: usageOf(secret) }),
        ),
      ]);
    case 'unknown_secret':
      return unknownSecret(clientId, secretId);
    default:
      throw lastSecret(clientId, false);
  }
}

function lastSecret(clientId: string, isConsole: boolean): AdministrationError {
  return refused('conflict', problem('last_live_secret', [], { clientId, isConsole }));
}

function unknownSecret(clientId: string, secretId: string): never {
  throw refused('unknown', problem('secret_unknown', [], { clientId, secretId }));
}

function usageOf({ id, createdAt, lastUsedAt }: ClientSecretRecord): SecretUsage {
  return {
    id,
    createdOn: createdAt.toISOString().slice(0, 10),
    lastUsedAt: lastUsedAt?.toISOString().slice(0, 16).replace('T', ' ') ?? null,
  };
}
