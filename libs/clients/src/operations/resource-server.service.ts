import { Injectable } from '@nestjs/common';
import { IsOptional, IsString } from 'class-validator';
import { changesBetween } from '#audit/changes.js';
import type { ResourceServer } from '../resource-server/resource-server.entity.js';
import { ResourceServerStore } from '../resource-server/resource-server.store.js';
import { describeKeys, generateClientSecret, hasKeys } from '#oauth/oauth-client.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import {
  type AdministrationError,
  type Problem,
  refused,
  refuseInvalid,
} from '#operations/administration.error.js';
import { AdministrationOptions } from '#operations/administration.options.js';
import { Announcer } from '#operations/announcer.js';
import { nameProblems } from '#oauth/registration/client-rules.js';
import { keysToStore, readKeys } from './keys.js';
import { type Expected, unlessOutdated } from '#operations/expected-version.js';
import { type Input, checked, DtoRule, Rule } from '#operations/validate.js';
import { IsJson, MayBeAbsent } from '#platform/validation/validate.js';
import type { Actor, Change } from '#operations/actor.js';
import { problem } from '#platform/validation/problem.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    resource_server_unknown: { readonly id: string };
    keys_missing: null;
  }
}

class NewResourceServerDto {
  @IsString()
  @MayBeAbsent()
  @Rule('name_invalid', ({ name }: NewResourceServerDto) =>
    nameProblems('‹name›', name, 'operators identify the account by it'),
  )
  name: string;

  /** JWK Set with public keys (RFC 7517 5), instead of a secret. */
  @IsJson()
  @IsOptional()
  jwks?: string | object | null;

  @IsString()
  @IsOptional()
  jwksUri?: string | null;
}

@DtoRule('nothing_to_change', (changes: ResourceServerChangesDto) =>
  Object.values(changes).every((value) => value === undefined)
    ? ['nothing to change: give at least one field']
    : [],
)
class ResourceServerChangesDto {
  @IsString()
  @MayBeAbsent()
  @Rule('name_invalid', ({ name }: ResourceServerChangesDto) =>
    name === undefined ? [] : nameProblems('‹name›', name, 'operators identify the account by it'),
  )
  name?: string;

  /** Replaces the secret or the keys immediately. */
  @IsJson()
  @IsOptional()
  jwks?: string | object | null;

  @IsString()
  @IsOptional()
  jwksUri?: string | null;
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
    const { dto, problems } = checked(NewResourceServerDto, input);
    const credentials = readKeys(dto);
    refuseInvalid([...problems, ...credentials.problems] satisfies Problem[]);
    const { keys = null } = keysToStore(credentials.keys);
    const { secret, hash } = generateClientSecret();
    const { id, name } = await this.servers.create(dto.name, keys ?? hash);
    const { BASE_URL } = this.options.settings;
    const described = keys && describeKeys(keys);
    const detail = { id, name, ...described };
    return {
      result: {
        id,
        name,
        secret: keys ? null : secret,
        introspection_url: BASE_URL + ENDPOINTS.introspect,
        ...(keys && { auth_method: 'private_key_jwt', assertion_audience: BASE_URL, ...described }),
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
    const { keys, problems: keyProblems } = readKeys(dto);
    const field = dto.jwks === undefined ? 'jwksUri' : 'jwks';
    const without = keys && !hasKeys(keys) ? [problem('keys_missing', field)] : [];
    refuseInvalid([...problems, ...keyProblems, ...without]);
    const { name } = dto;
    const changes = { ...(name !== undefined && { name }), ...keys };
    const changed = await unlessOutdated('account', this.servers.update(id, changes, expected?.version));
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
    if (!(await unlessOutdated('account', this.servers.revoke(id, expected?.version))))
      throw unknownServer(id);
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
