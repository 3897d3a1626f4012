import { readFileSync } from 'node:fs';
import { DEFAULT_SCOPES_FILE, parseScopes } from '#scopes/scope-file.js';
import type { Isolated } from './isolate.js';

/** Scopes of the default file. */
export const SCOPES = parseScopes(readFileSync(DEFAULT_SCOPES_FILE), { apiUrl: '', apis: null });

/** Returns variables with public URLs below example.com; TOKEN_KEYS and API_URL are missing. */
export function appSettings({ databaseUrl, redisUrl, natsUrl }: Isolated) {
  return {
    AUTH_URL: 'https://auth.example.com',
    BASE_URL: 'https://base.example.com',
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    NATS_URL: natsUrl,
  };
}

/**
 * Long timeout in seconds, because a busy machine may delay available dependencies. Tests of outages use the default.
 */
export const PATIENT = { DEPENDENCY_TIMEOUT: 10 } as const;

export const PATIENT_ENVIRONMENT = { DEPENDENCY_TIMEOUT: String(PATIENT.DEPENDENCY_TIMEOUT) } as const;

/** `PATIENT` in milliseconds, for constructors without a configuration object. */
export const PATIENT_MS = PATIENT.DEPENDENCY_TIMEOUT * 1_000;
