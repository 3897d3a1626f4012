export class StepFailure extends Error {
  /** Number and name of the step, set by the transcript. */
  step = '';

  constructor(
    readonly expected: string,
    readonly got: string,
    options?: ErrorOptions,
  ) {
    super(`expected ${expected}, got ${got}`, options);
    this.name = 'StepFailure';
  }
}

/** @throws StepFailure if the values differ */
export function expectEqual(
  what: string,
  expected: string | number,
  got: string | number | null | undefined,
): void {
  if (got !== expected) throw new StepFailure(`${what} ${expected}`, `${what} ${got ?? '(none)'}`);
}

/** Matches codes, access tokens, refresh tokens and client secrets, by their prefixes. */
const TOKEN = /\b(s(?:ac|at|rt|cs)_[\w-]{2})[\w-]+/g;

/** Shortens secrets: strings with a known prefix, and strings that were added. */
class Secrets {
  private readonly known = new Map<string, string>();

  /** @param shown replacement; must not contain any part of a password */
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

const WIDTH = 100;

export class Transcript {
  readonly secrets = new Secrets();
  private count = 0;
  private before = performance.now();

  /** @param write receives lines without line breaks @param colour true to allow ANSI colours */
  constructor(
    private readonly write: (line: string) => void,
    private readonly colour = false,
  ) {}

  /** Prints the step and its `proof`. @throws StepFailure that names the step */
  async step<T>(name: string, run: () => Promise<{ proof: string; value: T }>): Promise<T> {
    this.count += 1;
    const title = `${String(this.count).padStart(2)}. ${name}`;
    this.line('');
    this.line(title, 1);
    this.before = performance.now();
    try {
      const { proof, value } = await run();
      this.line(`    ✓ ${proof} (${Math.round(performance.now() - this.before)} ms)`, 32);
      return value;
    } catch (error) {
      const failure =
        error instanceof StepFailure ? error : new StepFailure('an answer', reason(error), { cause: error });
      failure.step = title.trim();
      throw failure;
    }
  }

  traffic(mark: '→' | '←', head: string, parts: readonly (readonly [string, string])[] = []): void {
    this.line(`    ${mark} ${head}`);
    for (const [name, value] of parts) this.line(`        ${name}: ${value}`, 2);
  }

  line(text: string, code?: number): void {
    const safe = visible(this.secrets.shorten(text));
    const short = safe.length > WIDTH * 2 ? `${safe.slice(0, WIDTH * 2)}…` : safe;
    this.write(this.colour && code !== undefined ? `\u001B[${code}m${short}\u001B[0m` : short);
  }

  failed({ step, expected, got }: StepFailure): void {
    this.line('');
    this.line(`✗ Step ${step} failed`, 31);
    this.line(`    expected: ${expected}`);
    this.line(`    got:      ${got}`);
  }
}

/** Replaces control characters, so that a response cannot move the cursor. */
function visible(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, '·');
}

function reason(error: unknown): string {
  const { message, cause } = error as Error;
  const { code } = (cause ?? {}) as { code?: string };
  return code === undefined ? message : `${message} (${code})`;
}
