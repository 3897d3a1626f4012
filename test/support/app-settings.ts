import type { Isolated } from './isolate.js';

/** The settings of an app on these services, with public URLs at example.com. TOKEN_KEYS and API_URL are not included. */
export function appSettings({ databaseUrl, redisUrl, natsUrl }: Isolated) {
  return {
    AUTH_URL: 'https://auth.example.com',
    BASE_URL: 'https://base.example.com',
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    NATS_URL: natsUrl,
  };
}
