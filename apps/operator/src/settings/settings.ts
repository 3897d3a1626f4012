import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { DEFAULT_AUDIT_RETENTION } from '#audit/retention.js';
import type { SigningKeys } from '#oauth/openid/signing-keys.js';
import { IsIdTokenKeys } from '#keys/id-token-keys.variable.js';
import {
  DEFAULT_SCHEMA,
  IsAuditUrl,
  IsDatabaseUrl,
  IsDisplayName,
  IsKeyRing,
  IsOrigin,
  IsSchema,
  IsUrls,
  IsWholeNumber,
  listOf,
} from '#platform/configuration/variables.js';
import { IsOutsideHosts } from '#platform/http/outside-hosts.js';
import { DEFAULT_SCOPES_FILE, readScopeFile } from '#scopes/scope-file.js';
import type { ScopeCatalogue } from '#oauth/scope.js';
import { type ConfigurationFile } from '#platform/configuration/configuration-files.module.js';
import { loadConfiguration } from '#platform/configuration/load-configuration.js';

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

export class ReviewSettings extends DatabaseSettings {
  @IsDisplayName() PRODUCT_NAME = 'Scheduling';
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

const FIELDS = {
  DATABASE_URL: 'database_url',
  DATABASE_SCHEMA: 'database_schema',
  AUTH_URL: 'auth_url',
  BASE_URL: 'base_url',
  API_URL: 'api_url',
  OTHER_API_URLS: 'other_api_urls',
  CONSOLE_URL: 'console_url',
  CONSOLE_GROUPS_CLAIM: 'console_groups_claim',
  NATS_URL: 'nats_url',
  AUDIT_NATS_URL: 'audit_nats_url',
  SCOPES_FILE: 'scopes_file',
  TOKEN_KEYS: 'token_keys',
  ID_TOKEN_KEYS: 'id_token_keys',
  OUTSIDE_FETCH_ALLOW: 'outside_fetch_allow',
} as const;

/**
 * Reads the settings of a command. Ignores the running product if the environment contains DATABASE_URL, because the
 * URLs of the product belong to its own database.
 * @throws ConfigurationError if a setting is invalid; Error if there is no database
 */
export function readSettings<T extends object>(shape: new () => T, env: NodeJS.ProcessEnv = process.env): T {
  if (env.DATABASE_URL) return loadConfiguration(shape, env);
  if (env.NODE_ENV === 'production')
    throw new Error('DATABASE_URL is missing: set it to the PostgreSQL URL of the service');
  const file = runFile(env);
  const running = runningProduct(file);
  if (!running)
    throw new Error(
      'DATABASE_URL is missing: start the product with "npm start" and this command works on it, or set it to the ' +
        `PostgreSQL URL of the service. No "npm start" runs with ${file}: LOCAL_DIR must be the same in both places`,
    );
  // DATABASE_SCHEMA must come from the running product, like the database.
  const { DATABASE_SCHEMA: _, ...rest } = withoutEmpty(env);
  return loadConfiguration(shape, { ...running, ...rest });
}

/**
 * Reads the scopes of SCOPES_FILE and of OpenID Connect, which the services enable only with ID_TOKEN_KEYS.
 * @param apis known APIs; null skips the check of APIs
 */
export function readScopes(
  apiUrl = '',
  apis: readonly string[] | null = null,
): ConfigurationFile<ScopeCatalogue> {
  const path = optionalSettings(process.env)['SCOPES_FILE'] || DEFAULT_SCOPES_FILE;
  return readScopeFile({ SCOPES_FILE: path, API_URL: apiUrl, apis }, true);
}

export function idTokenKeys(env: NodeJS.ProcessEnv = process.env): string {
  return optionalSettings(env)['ID_TOKEN_KEYS'] ?? '';
}

/** Returns null if OTHER_API_URLS is not set. */
export function apisOfServices(env: NodeJS.ProcessEnv = process.env): readonly string[] | null {
  const { API_URL = '', OTHER_API_URLS } = optionalSettings(env);
  return OTHER_API_URLS === undefined ? null : listOf(`${API_URL},${OTHER_API_URLS}`);
}

function optionalSettings(env: NodeJS.ProcessEnv): Readonly<Record<string, string | undefined>> {
  const running = env.DATABASE_URL || env.NODE_ENV === 'production' ? null : runningProduct(runFile(env));
  return { ...running, ...withoutEmpty(env) };
}

/** `npm start` writes the file, and removes it on exit. */
function runFile(env: NodeJS.ProcessEnv): string {
  return resolve(env.LOCAL_DIR || '.local', 'run.json');
}

function runningProduct(file: string): Record<string, string> | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new Error(`cannot read ${file}: run this as the user who ran "npm start", or set DATABASE_URL`, {
      cause: error,
    });
  }
  let run: Record<string, unknown>;
  try {
    run = Object(JSON.parse(text)) as Record<string, unknown>;
  } catch (cause) {
    throw new Error(`${file} is not valid JSON: restart "npm start", or set DATABASE_URL`, { cause });
  }
  const known = Object.entries(FIELDS).map(([variable, field]) => [variable, run[field]] as const);
  return Object.fromEntries(known.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

function withoutEmpty(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value));
}
