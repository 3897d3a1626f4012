import type { ClientSecretRecord } from '#database/client/client-secret.store.js';

/** A secret as the operator sees it: nothing to authenticate with. */
export function describeSecret({ id, createdAt, lastUsedOn }: ClientSecretRecord) {
  return { id, created_at: createdAt.toISOString(), last_used_on: lastUsedOn };
}

/** One line of text about a secret. */
export function sayWhenUsed({ createdAt, lastUsedOn }: ClientSecretRecord): string {
  return `created ${createdAt.toISOString().slice(0, 10)}, ${lastUsedOn ? `last used ${lastUsedOn}` : 'never used'}`;
}
