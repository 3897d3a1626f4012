export type SecretKind =
  | 'code'
  | 'device code'
  | 'access token'
  | 'refresh token'
  | 'ID token'
  | 'client secret'
  | 'cookie'
  | 'csrf token'
  | 'password'
  | 'private key'
  | 'code verifier'
  | 'state'
  | 'request URI'
  | 'setting';

/** Length of the stored pieces of a secret. Any 31 consecutive characters of the secret contain a whole piece. */
const PIECE = 16;
const RUN = new RegExp(`[\\w+/-]{${PIECE},}`, 'g');
const PREFIX = /^(?:s(?:ac|at|rt|cs|dc)_|urn:ietf:params:oauth:request_uri:)/;

const PREFIXED: ReadonlySet<SecretKind> = new Set([
  'code',
  'device code',
  'access token',
  'refresh token',
  'client secret',
]);

/** All credentials that the fuzzer created, used or received. */
export class KnownSecrets {
  private readonly pieces = new Map<string, SecretKind>();

  /** @param value base64url or alphanumeric; ignored if shorter than 16 characters without its prefix */
  add(kind: SecretKind, value: string): void {
    const random = value.replace(PREFIX, '');
    for (let at = 0; at + PIECE <= random.length; at += PIECE)
      this.pieces.set(random.slice(at, at + PIECE), kind);
  }

  /** Removes secrets that were sent in fields that the product may show or log. Keeps secrets with a known prefix. */
  forget(text: string): void {
    for (const [piece, kind] of this.in(text)) if (!PREFIXED.has(kind)) this.pieces.delete(piece);
  }

  in(text: string): Map<string, SecretKind> {
    const found = new Map<string, SecretKind>();
    for (const [run] of text.matchAll(RUN)) {
      for (let at = 0; at + PIECE <= run.length; at += 1) {
        const piece = run.slice(at, at + PIECE);
        const kind = this.pieces.get(piece);
        if (kind) found.set(piece, kind);
      }
    }
    return found;
  }

  get size(): number {
    return this.pieces.size;
  }
}

const TRACE = /(?:^|\n|\\n)\s*at .{1,200}?:\d+:\d+\)?/;
const SOURCE = /node_modules\/|file:\/\/\/|node:internal|\/(?:dist|apps|libs)\/[\w./-]+\.[cm]?[jt]s\b/;

export function traceIn(text: string): string | undefined {
  const found = TRACE.exec(text) ?? SOURCE.exec(text);
  return found?.[0].trim().slice(0, 200);
}
