import { Injectable } from '@nestjs/common';
import type { ClientCondition, ClientSecretRecord } from '../client.js';
import { ClientSecretStore, unknownSecret } from '../client-secret.store.js';
import { ClientStore } from '../client.store.js';
import { generateClientSecret } from '#oauth/oauth-client.js';
import type { Expected } from '#platform/validation/administration.error.js';
import { AdministrationOptions } from '#operations/administration.options.js';
import { Announcer } from '#operations/announcer.js';
import { described } from '#operations/member-names.js';
import { type Actor, isOwner } from '#operations/audit-trail.js';
import { type Input, validated } from '#operations/operation-input.js';
import { MayBeAbsent, WholeNumber } from '#platform/validation/validate.js';
import { identifyClient } from './client-lookup.js';
import { checkPrivileges, conditionBy } from './privileged-client.js';
import { isConsoleClient } from './console-client.js';

/** `last_used_at` is the start of the hour of the last use; `expires_at` is absent for a secret that does not expire. */
export type SecretView = ReturnType<typeof secretView>;

export class NewSecretDto {
  @WholeNumber(1, 730)
  @MayBeAbsent()
  expiresInDays?: number;
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
    return { client_id: clientId, secrets: (await this.secrets.list(clientId)).map(secretView) };
  }

  async find(idOrName: string, secretId: string): Promise<SecretView> {
    const { secrets } = await this.list(idOrName);
    const secret = secrets.find(({ id }) => id === secretId);
    if (!secret) throw unknownSecret(idOrName, secretId);
    return secret;
  }

  /** Adds a second secret, for an operator or an owner of the client. */
  async rotate(actor: Actor, idOrName: string, expected?: Expected, input: Input<NewSecretDto> = {}) {
    const { expiresInDays: days } = validated(NewSecretDto, input);
    const expiresAt = days === undefined ? null : new Date(Date.now() + days * 86_400_000);
    const clientId = await identifyClient(this.clients, idOrName);
    const { secret, hash } = generateClientSecret();
    const live = await this.secrets.add(clientId, hash, this.conditionOf(actor, expected), expiresAt);
    const secretId = live.at(-1)?.id ?? '';
    return {
      result: {
        client_id: clientId,
        client_secret: secret,
        secret_id: secretId,
        secrets: live.map(secretView),
      },
      announced: this.announcer.clientsChanged(actor, [clientId], {
        type: 'client_secret.rotated',
        client_id: clientId,
        detail: { secret_id: secretId },
      }),
    };
  }

  /** @param force true also revokes the last secret, which locks the application out */
  async revoke(actor: Actor, idOrName: string, secretId: string, force = false, expected?: Expected) {
    const clientId = await identifyClient(this.clients, idOrName);
    const { consoleUrl } = this.options.settings;
    const live = await this.secrets.revoke(
      clientId,
      secretId,
      force,
      this.conditionOf(actor, expected),
      ({ redirectUris }) => !isOwner(actor) && isConsoleClient(redirectUris, consoleUrl),
    );
    return {
      result: { client_id: clientId, revoked: secretId, secrets: live.map(secretView) },
      announced: this.announcer.clientsChanged(actor, [clientId], {
        type: 'client_secret.revoked',
        client_id: clientId,
        detail: { secret_id: secretId, live_secrets: live.length },
      }),
    };
  }

  private conditionOf(actor: Actor, expected: Expected = {}): ClientCondition {
    const { consoleUrl } = this.options.settings;
    return {
      ...conditionBy(actor, expected),
      check: (client) => checkPrivileges(actor, client, consoleUrl),
    };
  }
}

function secretView(secret: ClientSecretRecord) {
  const { expiresAt } = secret;
  return {
    ...described(secret, ['id', 'createdAt', 'lastUsedAt']),
    ...(expiresAt && { expires_at: expiresAt.toISOString() }),
  };
}
