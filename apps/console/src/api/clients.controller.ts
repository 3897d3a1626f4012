import { Param, Req, UseInterceptors } from '@nestjs/common';
import { AdministrationError } from '#administration/administration.error.js';
import { ClientSecretService } from '#administration/client/client-secret.service.js';
import { ClientService } from '#administration/client/client.service.js';
import { ClientHistoryService } from '#administration/explain/client-history.service.js';
import { ConcurrencyLimitInterceptor } from '../request-limits/concurrency-limit.interceptor.js';
import { type ApiResponse, changed, created, deleted, listed, result, versioned } from './response.js';
import type { ApiRequest } from './api.guard.js';
import { type ChangeRequest, RequestedChange, Query } from './input.js';
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
  async listClients(@Req() { url }: ApiRequest, @Query({}) query: object): Promise<ApiResponse> {
    return listed(url, await this.clients.list(query));
  }

  @Operation('post', '', {
    summary: 'Registers an application',
    description: `${ONCE} With \`metadata_url\`, the application describes itself: only \`scopes\` and \`optional_scopes\` go with it.`,
    input: schemas.NEW_CLIENT,
    returns: schemas.REGISTERED_CLIENT,
    creates: true,
  })
  async createClient(
    @RequestedChange() { actor, input: { public: type = 'confidential', ...input } }: ChangeRequest,
  ): Promise<ApiResponse> {
    if (type !== 'confidential' && type !== 'public')
      throw new AdministrationError('invalid', [
        { id: 'type_unknown', field: 'public', message: '‹public› must be confidential or public' },
      ]);
    const change = this.clients.create(actor, { ...input, ...(type === 'public' && { public: true }) });
    return created(change, ({ client_id: id }) => `clients/${encodeURIComponent(id)}`);
  }

  @Operation('get', ':id', {
    summary: 'Reads an application',
    returns: schemas.CLIENT,
  })
  async readClient(@Param('id') id: string): Promise<ApiResponse> {
    return versioned(await this.clients.find(id));
  }

  @Operation('patch', ':id', {
    summary: 'Changes an application',
    description: 'Members that are absent stay as they are; null removes a value (RFC 7396).',
    input: schemas.CLIENT_CHANGES,
    returns: schemas.CLIENT,
    hasVersion: true,
  })
  async changeClient(@RequestedChange() { actor, id, expected, input }: ChangeRequest): Promise<ApiResponse> {
    const changes = { ...input, expectedVersion: expected.version };
    const { result: updated, announced } = await this.clients.update(actor, id, changes);
    return { ...versioned(updated.client), warnings: await announced };
  }

  @Operation('post', ':id/disable', {
    summary: 'Disables an application: it gets no tokens',
    returns: schemas.CLIENT_STATE,
    needsVersion: true,
  })
  disableClient(@RequestedChange() { actor, id, expected }: ChangeRequest): Promise<ApiResponse> {
    return changed(this.clients.disable(actor, id, expected));
  }

  @Operation('post', ':id/enable', {
    summary: 'Enables an application',
    returns: schemas.CLIENT_STATE,
    needsVersion: true,
  })
  enableClient(@RequestedChange() { actor, id, expected }: ChangeRequest): Promise<ApiResponse> {
    return changed(this.clients.enable(actor, id, expected));
  }

  @Operation('delete', ':id', {
    summary: 'Deletes an application, which ends its grants',
  })
  deleteClient(@RequestedChange() { actor, id, expected }: ChangeRequest): Promise<ApiResponse> {
    return deleted(this.clients.delete(actor, id, expected));
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
  async summarizeRefusals(@Param('id') client: string, @Query({}) query: object): Promise<ApiResponse> {
    const history = await this.histories.read({ ...query, client });
    const { clientId, since, refused, logouts, succeeded, warnings } = history;
    const groups = history.groups.map((group) => {
      const { failure: _, ...shown } = group;
      return shown;
    });
    return result({ client_id: clientId, since, groups, refused, logouts, succeeded, warnings });
  }

  @Operation('get', ':id/secrets', {
    summary: 'Lists the live secrets of an application, oldest first',
    returns: schemas.SECRETS,
  })
  async listSecrets(@Param('id') id: string): Promise<ApiResponse> {
    return result(await this.secrets.list(id));
  }

  @Operation('post', ':id/secrets', {
    summary: 'Creates a secret beside the present one',
    description: ONCE,
    returns: schemas.NEW_SECRET,
    creates: true,
    needsVersion: true,
  })
  createSecret(@RequestedChange() { actor, id, expected }: ChangeRequest): Promise<ApiResponse> {
    const change = this.secrets.rotate(actor, id, expected);
    return created(
      change,
      ({ client_id: client, secret_id: secret }) =>
        `clients/${encodeURIComponent(client)}/secrets/${encodeURIComponent(secret)}`,
    );
  }

  @Operation('delete', ':id/secrets/:part', {
    summary: 'Revokes a secret',
    query: { force: '`true`: also the last one, without which the application cannot authenticate.' },
  })
  deleteSecret(
    @RequestedChange() { actor, id, part, expected }: ChangeRequest,
    @Query({ flags: ['force'] }) { force }: Readonly<Record<string, unknown>>,
  ): Promise<ApiResponse> {
    return deleted(this.secrets.revoke(actor, id, part, force === true, expected));
  }
}
