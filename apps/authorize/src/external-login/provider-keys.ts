import {
  createRemoteJWKSet,
  customFetch,
  errors,
  jwtVerify,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  type JWTVerifyResult,
} from 'jose';
import { PROVIDER_TIMEOUT_MS, providerFetch, unavailable } from './provider-fetch.js';

/**
 * Caches the keys for ten minutes. Fetches the keys again for an unknown key id, at most every 30 s.
 * @throws DependencyUnavailableError if the keys cannot be fetched; a JWKS error of jose unless exactly one key matches
 */
export function fetchedKeys(url: string, timeoutMs = PROVIDER_TIMEOUT_MS): JWTVerifyGetKey {
  const keys = createRemoteJWKSet(new URL(url), { timeoutDuration: timeoutMs, [customFetch]: providerFetch });
  return async (header, token) => {
    try {
      return await keys(header, token);
    } catch (error) {
      const noKey =
        error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys;
      throw noKey ? error : unavailable(error);
    }
  };
}

/** Verifies a JWT with each matching key, because several keys may match during a key rotation. */
export async function verifyWithAnyKey(
  jwt: string,
  keys: JWTVerifyGetKey,
  options: JWTVerifyOptions,
): Promise<JWTVerifyResult> {
  try {
    return await jwtVerify(jwt, keys, options);
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    for await (const key of error) {
      try {
        return await jwtVerify(jwt, key, options);
      } catch (mismatch) {
        if (!(mismatch instanceof errors.JWSSignatureVerificationFailed)) throw mismatch;
      }
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}
