import { DEFAULT_AUDIT_RETENTION } from '#audit/retention.js';
import { ID_TOKEN_KEYS_RULE, SigningKeys } from '#oauth/openid/signing-keys.js';
import {
  AuditUrlVariable,
  DEFAULT_SCHEMA,
  DatabaseUrlVariable,
  KeysVariable,
  NumberVariable,
  OriginVariable,
  ParsedVariable,
  SchemaVariable,
  UrlsVariable,
} from '#platform/configuration/variables.js';
import { OutsideHostsVariable } from '#platform/http/outside-hosts.js';

export class DatabaseSettings {
  @DatabaseUrlVariable() DATABASE_URL: string;
  @SchemaVariable() DATABASE_SCHEMA = DEFAULT_SCHEMA;
}

export class PreviewSettings extends DatabaseSettings {
  /** Empty without a console. */
  @OriginVariable({ optional: true }) CONSOLE_URL = '';
}

export class ChangeSettings extends PreviewSettings {
  @UrlsVariable('nats', 'tls') NATS_URL: string;
  @AuditUrlVariable() AUDIT_NATS_URL = '';
  /** Claim with the groups that give operators their roles; empty if this service stores the roles. */
  CONSOLE_GROUPS_CLAIM = '';
}

export class KeySettings extends ChangeSettings {
  /** Needed only by `keys next` without --stdin. */
  @KeysVariable() TOKEN_KEYS: string;
}

export class IdTokenKeySettings extends ChangeSettings {
  /** Private keys, needed only by `keys next --id-token` without --stdin. */
  @ParsedVariable(parsePrivateKeys, ID_TOKEN_KEYS_RULE) ID_TOKEN_KEYS: string;
}

function parsePrivateKeys(text: string): void {
  if (!SigningKeys.parse(text).canSign) throw new Error('it needs the private keys, which the token app has');
}

export class ResourceServerSettings extends ChangeSettings {
  /** Origin of the token app, and the issuer (RFC 8414 2). */
  @OriginVariable() BASE_URL: string;
}

export class RegistrationSettings extends ResourceServerSettings {
  @OriginVariable() AUTH_URL: string;
  /** Same value as in the services: hosts outside the public internet that may serve metadata documents. */
  @OutsideHostsVariable() OUTSIDE_FETCH_ALLOW = '';
}

export class HandoverSettings extends ResourceServerSettings {
  @OriginVariable() AUTH_URL: string;
  @OriginVariable() API_URL: string;
}

export class DoctorSettings extends HandoverSettings {
  @NumberVariable(1, 3650) AUDIT_RETENTION_DAYS = DEFAULT_AUDIT_RETENTION.days;
  @NumberVariable(1, 1_000_000) AUDIT_MAX_MEGABYTES = DEFAULT_AUDIT_RETENTION.megabytes;
  @NumberVariable(1, 5) AUDIT_REPLICAS = DEFAULT_AUDIT_RETENTION.replicas;
}
