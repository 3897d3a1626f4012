import type { Isolated } from './isolate.js';

/** Public URLs are at example.com. TOKEN_KEYS and API_URL are not included. */
export function appSettings({ databaseUrl, redisUrl, natsUrl }: Isolated) {
  return {
    AUTH_URL: 'https://auth.example.com',
    BASE_URL: 'https://base.example.com',
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    NATS_URL: natsUrl,
  };
}

/** For available dependencies: a busy machine may stall a process for seconds. Tests of outages use the default. */
export const PATIENT = { DEPENDENCY_TIMEOUT: 10 } as const;

export const PATIENT_ENVIRONMENT = { DEPENDENCY_TIMEOUT: String(PATIENT.DEPENDENCY_TIMEOUT) } as const;

/** Milliseconds, for constructors without a configuration. */
export const PATIENT_MS = PATIENT.DEPENDENCY_TIMEOUT * 1_000;
