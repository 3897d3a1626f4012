import { DEFAULT_AUDIT_RETENTION } from '#audit/retention.js';
import type { SigningKeys } from '#oauth/openid/signing-keys.js';
import { IsIdTokenKeys } from '#keys/id-token-keys.variable.js';
import {
  IsAuditUrl,
  DEFAULT_SCHEMA,
  IsDatabaseUrl,
  IsKeyRing,
  IsWholeNumber,
  IsOrigin,
  IsSchema,
  IsUrls,
} from '#platform/configuration/variables.js';
import { IsOutsideHosts } from '#platform/http/outside-hosts.js';

export class DatabaseSettings {
  @IsDatabaseUrl() DATABASE_URL: string;
  @IsSchema() DATABASE_SCHEMA = DEFAULT_SCHEMA;
}

export class PreviewSettings extends DatabaseSettings {
  /** Empty without a console. */
  @IsOrigin({ optional: true }) CONSOLE_URL = '';
}

export class ChangeSettings extends PreviewSettings {
  @IsUrls('nats', 'tls') NATS_URL: string;
  @IsAuditUrl() AUDIT_NATS_URL = '';
  /** Claim with the groups that give operators their roles; empty if this service stores the roles. */
  CONSOLE_GROUPS_CLAIM = '';
}

export class KeySettings extends ChangeSettings {
  /** Needed only by `keys next` without --stdin. */
  @IsKeyRing() TOKEN_KEYS: string;
}

export class IdTokenKeySettings extends ChangeSettings {
  /** Private keys, needed only by `keys next --id-token` without --stdin. */
  @IsIdTokenKeys(checkPrivate) ID_TOKEN_KEYS: string;
}

function checkPrivate({ canSign }: SigningKeys): void {
  if (!canSign) throw new Error('it needs the private keys, which the token app has');
}

export class ResourceServerSettings extends ChangeSettings {
  /** Origin of the token app, and the issuer (RFC 8414 2). */
  @IsOrigin() BASE_URL: string;
}

export class RegistrationSettings extends ResourceServerSettings {
  @IsOrigin() AUTH_URL: string;
  /** Same value as in the services: hosts outside the public internet that may serve metadata documents. */
  @IsOutsideHosts() OUTSIDE_FETCH_ALLOW = '';
}

export class HandoverSettings extends ResourceServerSettings {
  @IsOrigin() AUTH_URL: string;
  @IsOrigin() API_URL: string;
}

export class DoctorSettings extends HandoverSettings {
  @IsWholeNumber(1, 3650) AUDIT_RETENTION_DAYS = DEFAULT_AUDIT_RETENTION.days;
  @IsWholeNumber(1, 1_000_000) AUDIT_MAX_MEGABYTES = DEFAULT_AUDIT_RETENTION.megabytes;
  @IsWholeNumber(1, 5) AUDIT_REPLICAS = DEFAULT_AUDIT_RETENTION.replicas;
}
