/** What the public key of each algorithm looks like (RFC 7518 3.1, RFC 8037, RFC 9864). */
const KEY_SHAPES = {
  ES256: { kty: 'EC', crv: 'P-256' },
  ES384: { kty: 'EC', crv: 'P-384' },
  Ed25519: { kty: 'OKP', crv: 'Ed25519' },
  EdDSA: { kty: 'OKP', crv: 'Ed25519' },
  PS256: { kty: 'RSA' },
  RS256: { kty: 'RSA' },
} as const satisfies Record<string, { readonly kty: string; readonly crv?: string }>;

export type DpopAlgorithm = keyof typeof KEY_SHAPES;

/** The algorithms a proof may be signed with; metadata publishes them as `dpop_signing_alg_values_supported`. */
export const DPOP_ALGORITHMS = Object.keys(KEY_SHAPES) as readonly DpopAlgorithm[];

export function isDpopAlgorithm(alg: unknown): alg is DpopAlgorithm {
  return typeof alg === 'string' && Object.hasOwn(KEY_SHAPES, alg);
}

/** Key type and curve that go with an algorithm. */
export function keyShapeOf(alg: DpopAlgorithm): { readonly kty: string; readonly crv?: string } {
  return KEY_SHAPES[alg];
}
