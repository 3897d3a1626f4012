export const CLOCK = Symbol('clock');

/** Milliseconds since the epoch. */
export type Clock = () => number;

/** Does not cancel the work. @throws Error if the work takes longer than `limitMs` */
export async function withTimeout<T>(work: Promise<T>, limitMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${limitMs / 1000} s`)), limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
