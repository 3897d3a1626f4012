import { Injectable } from '@nestjs/common';
import { IsString } from 'class-validator';
import { changesBetween } from '#audit/changes.js';
import type { ResourceServer } from '../resource-server/resource-server.entity.js';
import { ResourceServerStore } from '../resource-server/resource-server.store.js';
import { describeKeys, generateClientSecret, hasKeys } from '#oauth/oauth-client.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import {
  type AdministrationError,
  type Expected,
  refused,
  refuseInvalid,
} from '#platform/validation/administration.error.js';
import { AdministrationOptions } from '#operations/administration.options.js';
import { Announcer } from '#operations/announcer.js';
import { isVisibleName, VISIBLE_NAME } from '../registration/client-metadata.js';
import { clientKeys, GivenKeys, isAbsent } from '../registration/keys.js';
import { type Input, checked, validated } from '#operations/operation-input.js';
import { MayBeAbsent, ObjectRule, Satisfies } from '#platform/validation/validate.js';
import type { Actor, Change } from '#operations/audit-trail.js';
import { problem } from '#platform/validation/problem.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    resource_server_unknown: { readonly id: string };
    keys_missing: null;
  }
}

export class NewResourceServerDto extends GivenKeys {
  @Satisfies(isVisibleName, VISIBLE_NAME)
  @IsString()
  name: string;
}

/** New keys replace the secret or the keys immediately. */
@ObjectRule((changes: ResourceServerChangesDto) =>
  Object.values(changes).every((value) => value === undefined) ? [problem('nothing_to_change', [])] : [],
)
export class ResourceServerChangesDto extends GivenKeys {
  @Satisfies(isVisibleName, VISIBLE_NAME)
  @IsString()
  @MayBeAbsent()
  name?: string;
}

export interface RegisteredResourceServer {
  readonly id: string;
  readonly name: string;
  /** Null if the API has keys. Never stored. */
  readonly secret: string | null;
  readonly introspection_url: string;
  readonly auth_method?: 'private_key_jwt';
  readonly assertion_audience?: string;
  readonly keys?: string[];
  readonly jwks_uri?: string;
}

export type ResourceServerView = ReturnType<typeof resourceServerView>;

/** Manages the APIs that may introspect tokens over HTTP (RFC 7662 2.1). */
@Injectable()
export class ResourceServerService {
  constructor(
    private readonly servers: ResourceServerStore,
    private readonly announcer: Announcer,
    private readonly options: AdministrationOptions,
  ) {}

  async list(): Promise<ResourceServerView[]> {
    return (await this.servers.list()).map(resourceServerView);
  }

  async find(id: string): Promise<ResourceServerView> {
    const server = (await this.list()).find((candidate) => candidate.id === id);
    if (!server) throw unknownServer(id);
    return server;
  }

  async create(actor: Actor, input: Input<NewResourceServerDto>): Promise<Change<RegisteredResourceServer>> {
    const dto = validated(NewResourceServerDto, input);
    const given = clientKeys(dto);
    const keys = hasKeys(given) ? given : null;
    const { secret, hash } = generateClientSecret();
    const { id, name } = await this.servers.create(dto.name, keys ?? hash);
    const { baseUrl } = this.options.settings;
    const described = keys && describeKeys(keys);
    const detail = { id, name, ...described };
    return {
      result: {
        id,
        name,
        secret: keys ? null : secret,
        introspection_url: baseUrl + ENDPOINTS.introspect,
        ...(keys && { auth_method: 'private_key_jwt', assertion_audience: baseUrl, ...described }),
      },
      announced: this.announcer.record(actor, { type: 'resource_server.created', detail }),
    };
  }

  /** Changes the name, and the keys of an account; new keys replace a secret. */
  async update(
    actor: Actor,
    id: string,
    input: Input<ResourceServerChangesDto>,
    expected?: Expected,
  ): Promise<Change<ResourceServerView>> {
    const { dto, problems } = checked(ResourceServerChangesDto, input);
    const { name, jwks, jwksUri } = dto;
    const hasNewKeys = jwks !== undefined || jwksUri !== undefined;
    const isWithout = hasNewKeys && isAbsent(jwks) && isAbsent(jwksUri);
    refuseInvalid([
      ...problems,
      ...(isWithout ? [problem('keys_missing', jwks === undefined ? 'jwksUri' : 'jwks')] : []),
    ]);
    const changes = { ...(name !== undefined && { name }), ...(hasNewKeys && clientKeys(dto)) };
    const changed = await this.servers.update(id, changes, expected?.version);
    if (!changed) throw unknownServer(id);
    const { before, after } = changed;
    return {
      result: resourceServerView(after),
      announced: this.announcer.clientsChanged(actor, [id], {
        type: 'resource_server.updated',
        detail: { id },
        ...changesBetween(recorded(before), recorded(after)),
      }),
    };
  }

  async revoke(
    actor: Actor,
    id: string,
    expected?: Expected,
  ): Promise<Change<{ readonly id: string; readonly revoked: true }>> {
    if (!(await this.servers.revoke(id, expected?.version))) throw unknownServer(id);
    return {
      result: { id, revoked: true },
      announced: this.announcer.clientsChanged(actor, [id], {
        type: 'resource_server.revoked',
        detail: { id },
      }),
    };
  }
}

const recorded = (server: ResourceServer) => ({ name: server.name, ...describeKeys(server) });

function unknownServer(id: string): AdministrationError {
  return refused('unknown', problem('resource_server_unknown', [], { id }));
}

function resourceServerView(server: ResourceServer) {
  return {
    id: server.id,
    name: server.name,
    auth_method: hasKeys(server) ? 'private_key_jwt' : 'client_secret',
    ...describeKeys(server),
    jwks: server.jwks,
    version: server.version,
    created_at: server.createdAt.toISOString(),
  };
}
