/** Prefixes of codes, access tokens, refresh tokens and client secrets, as secret scanners know them. */
const TOKEN = /\b(s(?:ac|at|rt|cs)_[\w-]{2})[\w-]+/g;

/** Shortens what must not stand in a terminal's scroll-back: by its form when it has one, else because it was told. */
export class Secrets {
  private readonly known = new Map<string, string>();

  /**
   * From now on this text is replaced wherever it is printed.
   *
   * @param shown what stands in its place: nothing of it, for a password, which people use elsewhere too
   */
  add(secret: string, shown = `${secret.slice(0, 4)}…`): void {
    if (secret.length > 0) this.known.set(secret, shown);
  }

  shorten(text: string): string {
    let short = text.replace(TOKEN, '$1…');
    for (const [secret, shown] of this.known) {
      // In an address it is encoded. A function, since the text may have a `$` in it.
      short = short.replaceAll(secret, () => shown).replaceAll(encodeURIComponent(secret), () => shown);
    }
    return short;
  }
}
