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

/** Maximum number of times in RELOAD_WINDOW_MS that unknown keys cause a fetch, because anyone can send such JWTs. */
const MAX_RELOADS = 5;
const RELOAD_WINDOW_MS = 60_000;

/**
 * Caches the keys for ten minutes. Fetches the keys again for an unknown key (OpenID Connect Core 10.1.1), even if the
 * keys have just been fetched.
 * @throws DependencyUnavailableError if the keys cannot be fetched; a JWKS error of jose unless exactly one key matches
 */
export function fetchedKeys(url: string, timeoutMs = PROVIDER_TIMEOUT_MS): JWTVerifyGetKey {
  const keys = createRemoteJWKSet(new URL(url), {
    timeoutDuration: timeoutMs,
    // `mayReload` limits the fetches.
    cooldownDuration: Infinity,
    [customFetch]: providerFetch,
  });
  const window = { since: 0, reloads: 0 };
  const mayReload = (): boolean => {
    const now = Date.now();
    if (now - window.since >= RELOAD_WINDOW_MS) Object.assign(window, { since: now, reloads: 0 });
    return ++window.reloads <= MAX_RELOADS;
  };
  return async (header, token) => {
    try {
      return await keys(header, token).catch(async (error: unknown) => {
        if (!(error instanceof errors.JWKSNoMatchingKey) || !mayReload()) throw error;
        await keys.reload();
        return keys(header, token);
      });
    } catch (error) {
      const noKey =
        error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys;
      throw noKey ? error : unavailable(error);
    }
  };
}

/** Returns false for `none` and shared secrets, which do not prove that the provider signed a token. */
export function isAsymmetric(algorithm: string): boolean {
  return /^(?:[RPE]S(?:256|384|512)|EdDSA|Ed25519)$/.test(algorithm);
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
