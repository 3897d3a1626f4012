import { Injectable } from '@nestjs/common';

type Check = () => Promise<unknown>;

const CHECK_TIMEOUT_MS = 2_000;

/** What this process needs before it can serve. Dependencies register here; the internal port asks. */
@Injectable()
export class Readiness {
  readonly #checks = new Map<string, Check>();

  /** `check` rejects, or does not answer in two seconds, while the dependency cannot be used. */
  add(dependency: string, check: Check): void {
    this.#checks.set(dependency, check);
  }

  /** The dependencies that cannot be used just now; empty means ready. */
  async missing(): Promise<string[]> {
    const results = await Promise.all(
      [...this.#checks].map(async ([dependency, check]) => ((await answers(check)) ? [] : [dependency])),
    );
    return results.flat();
  }
}

async function answers(check: Check): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), CHECK_TIMEOUT_MS);
  });
  try {
    return await Promise.race([check().then(() => true), late]);
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}
