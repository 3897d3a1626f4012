/** Prefixes of codes, access tokens, refresh tokens and client secrets, as secret scanners know them. */
const TOKEN = /\b(s(?:ac|at|rt|cs)_[\w-]{2})[\w-]+/g;

/** Shortens what must not stand in a terminal's scroll-back: by its form when it has one, else because it was told. */
export class Secrets {
  private readonly known = new Set<string>();

  /** From now on this text is shortened too: a password, a state, a form's token. */
  add(secret: string): void {
    if (secret.length > 0) this.known.add(secret);
  }

  shorten(text: string): string {
    let shown = text.replace(TOKEN, '$1…');
    for (const secret of this.known) {
      shown = shown
        .replaceAll(secret, shortened(secret))
        .replaceAll(encodeURIComponent(secret), shortened(secret));
    }
    return shown;
  }
}

function shortened(secret: string): string {
  return secret.length < 20 ? '…' : `${secret.slice(0, 4)}…`;
}
