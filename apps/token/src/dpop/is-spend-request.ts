import type { SpendRequest } from '#introspection/contract.js';

/** Whether what came over NATS is what the contract says: nothing else may decide what is remembered. */
export function isSpendRequest(value: unknown): value is SpendRequest {
  if (typeof value !== 'object' || value === null) return false;
  const { jkt, jti, nonce, expires_at: expiresAt } = value as Readonly<Record<string, unknown>>;
  return (
    typeof jkt === 'string' &&
    /^[\w-]{43}$/.test(jkt) &&
    typeof jti === 'string' &&
    (nonce === undefined || typeof nonce === 'string') &&
    typeof expiresAt === 'number' &&
    Number.isFinite(expiresAt)
  );
}
