/** What the fuzzer must never find where it does not belong. */
export type SecretKind =
  | 'code'
  | 'access token'
  | 'refresh token'
  | 'client secret'
  | 'cookie'
  | 'csrf token'
  | 'password'
  | 'private key'
  | 'code verifier'
  | 'state'
  | 'request URI'
  | 'setting';

/** Every sixteenth character a piece begins: any 31 characters of a secret hold a whole one. */
const PIECE = 16;
const RUN = new RegExp(`[\\w+/-]{${PIECE},}`, 'g');
const PREFIX = /^(?:s(?:ac|at|rt|cs)_|urn:ietf:params:oauth:request_uri:)/;

const PREFIXED: ReadonlySet<SecretKind> = new Set(['code', 'access token', 'refresh token', 'client secret']);

/** Every credential that the fuzzer made, used or was given, and a search for any part of one in a text. */
export class KnownSecrets {
  private readonly pieces = new Map<string, SecretKind>();

  /** @param value base64url, or any text of letters and digits; shorter than sixteen characters is ignored */
  add(kind: SecretKind, value: string): void {
    const random = value.replace(PREFIX, '');
    for (let at = 0; at + PIECE <= random.length; at += PIECE)
      this.pieces.set(random.slice(at, at + PIECE), kind);
  }

  /**
   * From here on these are no secrets: they were sent in a place of which the product tells what it got. What is known by its
   * prefix stays one, wherever it stands.
   */
  forget(text: string): void {
    for (const [piece, kind] of this.in(text)) if (!PREFIXED.has(kind)) this.pieces.delete(piece);
  }

  /** The parts of secrets that stand in a text, each with its kind. */
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

/** Finds a stack trace or the path of one of our files in a text. */
export function traceIn(text: string): string | undefined {
  const found = TRACE.exec(text) ?? SOURCE.exec(text);
  return found?.[0].trim().slice(0, 200);
}
