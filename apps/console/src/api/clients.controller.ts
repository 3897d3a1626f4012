import { Param, UseInterceptors } from '@nestjs/common';
import { ClientSecretService } from '#clients/operations/client-secret.service.js';
import { DisabledClientDto } from '#clients/operations/client.dto.js';
import { ClientService } from '#clients/operations/client.service.js';
import { ClientHistoryService } from '#audit/operations/explain/client-history.service.js';
import type { Change } from '#operations/audit-trail.js';
import { mapPage } from '#operations/list.js';
import { validated } from '#operations/operation-input.js';
import { ConcurrencyLimitInterceptor } from '../concurrency-limit.interceptor.js';
import { type ApiResponse, created, versionedBy } from './response.js';
import { type ChangeRequest, RequestedChange, Query } from './request-input.js';
import { clientResource } from './client-resource.js';
import { ApiController, Operation } from './operation.js';
import * as schemas from './schemas.js';

const ONCE =
  'The secret is in this response only, and in the response to a retry with the same `Idempotency-Key`.';

/** `:id` is the client_id, or a name that only one application has. */
@ApiController('clients')
export class ClientsApiController {
  constructor(
    private readonly clients: ClientService,
    private readonly secrets: ClientSecretService,
    private readonly histories: ClientHistoryService,
  ) {}

  @Operation('get', '', {
    summary: 'Lists applications, newest first',
    query: {
      search: 'Part of the name, client_id, a redirect URI or a contact; or `id:` and the client_id.',
      state: '`enabled` or `disabled`.',
      kind: '`confidential`, `public`, `api` (client_credentials) or `document` (metadata document).',
    },
    returns: schemas.CLIENT,
    isPage: true,
  })
  async listClients(@Query() query: object): Promise<object> {
    return mapPage(await this.clients.list(query), clientResource);
  }

  @Operation('post', '', {
    summary: 'Registers an application',
    description: `${ONCE} With \`metadata_url\`, the application describes itself: only \`scopes\` and \`optional_scopes\` go with it.`,
    input: schemas.NEW_CLIENT,
    returns: schemas.REGISTERED_CLIENT,
    creates: true,
  })
  createClient(@RequestedChange() { actor, input }: ChangeRequest): Promise<ApiResponse> {
    return created(
      this.clients.create(actor, input),
      ({ client_id: id }) => `clients/${encodeURIComponent(id)}`,
      ({ client_id: id }) => this.readClient(id),
    );
  }

  @Operation('get', ':id', { summary: 'Reads an application', returns: schemas.CLIENT })
  async readClient(@Param('id') id: string): Promise<object> {
    return clientResource(await this.clients.find(id));
  }

  @Operation('patch', ':id', {
    summary: 'Changes an application',
    description: 'Members that are absent stay as they are; null removes a value (RFC 7396).',
    input: schemas.CLIENT_CHANGES,
    returns: schemas.CLIENT,
    hasVersion: true,
  })
  async changeClient(
    @RequestedChange() { actor, id, input, expected }: ChangeRequest,
  ): Promise<Change<object>> {
    const changes = { ...input, expectedVersion: expected.version };
    const { result, announced } = await this.clients.update(actor, id, changes);
    return { result: clientResource(result.client), announced };
  }

  @Operation('post', ':id/disable', {
    summary: 'Disables an application: it gets no tokens',
    input: schemas.DISABLE_CLIENT,
    returns: schemas.CLIENT_STATE,
    needsVersion: true,
  })
  async disableClient(
    @RequestedChange() { actor, id, expected, input }: ChangeRequest,
  ): Promise<Change<object>> {
    const { confirmConsole } = validated(DisabledClientDto, input);
    return this.clients.disable(actor, id, expected, confirmConsole);
  }

  @Operation('post', ':id/enable', {
    summary: 'Enables an application',
    returns: schemas.CLIENT_STATE,
    needsVersion: true,
  })
  enableClient(@RequestedChange() { actor, id, expected }: ChangeRequest): Promise<Change<object>> {
    return this.clients.enable(actor, id, expected);
  }

  @Operation('delete', ':id', {
    summary: 'Deletes an application, which ends its grants',
    query: { confirm_console: '`true`: also the application by which operators log in to the console.' },
    flags: ['confirm_console'],
  })
  deleteClient(@RequestedChange() { actor, id, expected, query }: ChangeRequest): Promise<Change<object>> {
    return this.clients.delete(actor, id, expected, query['confirmConsole'] === true);
  }

  @UseInterceptors(ConcurrencyLimitInterceptor)
  @Operation('get', ':id/refusals', {
    summary: 'Groups the refused requests of an application by cause',
    query: {
      since:
        'Start of the period: ISO 8601, or like `1h`, `1d` (default); at most 92 days ago. Rounded down to the hour, or to the day if it is more than 48 hours ago.',
    },
    returns: schemas.REFUSALS,
  })
  async summarizeRefusals(@Param('id') client: string, @Query() query: object): Promise<object> {
    const history = await this.histories.read({ ...query, client });
    const { clientId, since, refused, logouts, succeeded, warnings } = history;
    const groups = history.groups.map((group) => {
      const { failure: _, ...shown } = group;
      return shown;
    });
    return { client_id: clientId, since, groups, refused, logouts, succeeded, warnings };
  }

  @Operation('get', ':id/handover', {
    summary: 'Writes what the owner of an application needs, as Markdown; never the secret',
    query: {
      secret_delivery: 'How the owner gets the secret.',
      guide: 'URL of an integration guide.',
    },
    returns: schemas.HANDOVER,
  })
  readHandover(@Param('id') id: string, @Query() query: object): Promise<object> {
    return this.clients.handover(id, query);
  }

  @Operation('get', ':id/secrets', {
    summary: 'Lists the live secrets of an application, oldest first',
    description: 'The `ETag` contains the version of the application.',
    returns: schemas.SECRETS,
  })
  async listSecrets(@Param('id') id: string): Promise<ApiResponse> {
    // In this order: the tag must not have a later version than the secrets.
    const { version } = await this.clients.find(id);
    const secrets = await this.secrets.list(id);
    return versionedBy(version, secrets);
  }

  @Operation('get', ':id/secrets/:part', {
    summary: 'Reads a live secret, without its value',
    returns: schemas.SECRET,
  })
  async readSecret(@Param('id') id: string, @Param('part') part: string): Promise<ApiResponse> {
    const { version } = await this.clients.find(id);
    const secret = await this.secrets.find(id, part);
    return versionedBy(version, secret);
  }

  @Operation('post', ':id/secrets', {
    summary: 'Creates a secret beside the present one',
    description: ONCE,
    returns: schemas.NEW_SECRET,
    creates: true,
    needsVersion: true,
  })
  async createSecret(@RequestedChange() { actor, id, expected }: ChangeRequest): Promise<ApiResponse> {
    const { result: made, announced } = await this.secrets.rotate(actor, id, expected);
    const { client_id, client_secret, secret_id } = made;
    return created(
      Promise.resolve({ result: { client_id, client_secret, id: secret_id }, announced }),
      () => `clients/${encodeURIComponent(client_id)}/secrets/${encodeURIComponent(secret_id)}`,
      () => this.readSecret(client_id, secret_id),
    );
  }

  @Operation('delete', ':id/secrets/:part', {
    summary: 'Revokes a secret',
    query: { force: '`true`: also the last one, without which the application cannot authenticate.' },
    flags: ['force'],
  })
  deleteSecret(
    @RequestedChange() { actor, id, part, expected, query }: ChangeRequest,
  ): Promise<Change<object>> {
    return this.secrets.revoke(actor, id, part, query['force'] === true, expected);
  }
}
