import { IsArray, IsBoolean, IsIn, IsString, Matches } from 'class-validator';
import { isClientId } from '#oauth/oauth-client.js';
import { Cursor, FilterDto, Limit } from '#operations/list.js';
import type { Input } from '#operations/operation-input.js';
import { reports } from '#platform/validation/problem.js';
import { IsJson, MayBeAbsent, Rule, WholeNumber } from '#platform/validation/validate.js';
import { CLIENT_KINDS, type ClientKind } from '../client.store.js';
import { documentUrlProblems } from '../documents/metadata-document.js';
import { asJwkSet, keySetProblems } from '../registration/keys.js';
import type { Registration } from '../registration/registration.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    guide_invalid: null;
  }
}

/** Client that a metadata document describes. */
export class DocumentClientDto {
  @IsString()
  @Rule(({ metadataUrl }: DocumentClientDto) => documentUrlProblems('metadataUrl', metadataUrl))
  metadataUrl: string;

  /** Defaults to the scopes of the document, or to every scope if the document names no known scope. */
  @IsString({ each: true })
  @IsArray()
  @MayBeAbsent()
  scopes?: string[];

  @IsString({ each: true })
  @IsArray()
  optionalScopes: string[] = [];
}

/** Fields of `DocumentClientDto` if there is a `metadataUrl`, otherwise of `Registration`. */
export type NewClientInput = Input<Registration & DocumentClientDto>;

export class ListChangesDto {
  @IsString({ each: true })
  @IsArray()
  addScopes: string[] = [];

  @IsString({ each: true })
  @IsArray()
  removeScopes: string[] = [];

  @IsString({ each: true })
  @IsArray()
  addRedirectUris: string[] = [];

  @IsString({ each: true })
  @IsArray()
  removeRedirectUris: string[] = [];

  /** JWK (RFC 7517 4) or JWK Set (5) with public keys. */
  @IsJson()
  @MayBeAbsent()
  @Rule(({ addKeys }: ListChangesDto) =>
    keySetProblems('addKeys', addKeys === undefined ? null : asJwkSet(addKeys)),
  )
  addKeys?: string | object;

  /** The `kid` or the thumbprint (RFC 7638) of each key. */
  @IsString({ each: true })
  @IsArray()
  removeKeys: string[] = [];

  @WholeNumber(1, 2 ** 31)
  @MayBeAbsent()
  expectedVersion?: number;

  @IsBoolean()
  confirmNewSubjects = false;

  @IsBoolean()
  confirmConsole = false;
}

/** Absent fields of the registration stay unchanged, and a list replaces the whole list. */
export type ClientChanges = Input<Omit<Registration, 'type' | 'grantType' | 'profile'> & ListChangesDto>;

export class DisabledClientDto {
  @IsBoolean()
  confirmConsole = false;
}

/** `search` is part of the name, client_id, a redirect URI or a contact, in any case; or `id:` and the client_id. */
export class ClientFilterDto extends FilterDto {
  @IsIn(CLIENT_KINDS)
  @IsString()
  @MayBeAbsent()
  kind?: ClientKind;
}

export class ClientListDto extends ClientFilterDto {
  @Cursor(isClientId)
  cursor?: string;

  @Limit()
  limit = 100;
}

export class HandoverDto {
  @IsString()
  secretDelivery = 'delivered to you separately, through a channel that you agree on with the operator';

  /** URL of the integration guide; absent if the operator sends the guide as a file. */
  @Matches(/^https?:\/\/\S+$/, reports('guide_invalid'))
  @IsString()
  @MayBeAbsent()
  guide?: string;
}
