/** Prefixes of codes, access tokens, refresh tokens and client secrets, as secret scanners know them. */
const TOKEN = /\b(s(?:ac|at|rt|cs)_[\w-]{2})[\w-]+/g;

/** Shortens secrets before they are printed: those with a known prefix, and those added by `add`. */
export class Secrets {
  private readonly known = new Map<string, string>();

  /**
   * Replaces this text in everything printed from now on.
   *
   * @param shown its replacement. For a password, it must contain no part of it.
   */
  add(secret: string, shown = `${secret.slice(0, 4)}…`): void {
    if (secret.length > 0) this.known.set(secret, shown);
  }

  shorten(text: string): string {
    let short = text.replace(TOKEN, '$1…');
    for (const [secret, shown] of this.known) {
      // URLs contain the encoded form. The replacement is a function because `$` is special in a string.
      short = short.replaceAll(secret, () => shown).replaceAll(encodeURIComponent(secret), () => shown);
    }
    return short;
  }
}
