import autocannon from 'autocannon';

/** A kind of request. Each request may differ, because codes are single-use. */
export interface Case {
  readonly name: string;
  readonly url: string;
  /** Expected status. Any other status fails the measurement. */
  readonly status: number;
  /** Maximum number of requests; absent means unlimited. */
  readonly most?: () => number;
  readonly next: () => autocannon.Request;
  readonly answered?: (body: string) => void;
}

export interface Timing {
  readonly requests: number;
  readonly perSecond: number;
  /** In milliseconds, like p99. */
  readonly p50: number;
  readonly p99: number;
}

/** Sends requests sequentially on each connection. @throws Error for an unexpected response */
export async function load(
  { name, url, status, next, answered }: Case,
  connections: number,
  length: { readonly amount: number } | { readonly seconds: number },
): Promise<Timing> {
  const times: number[] = [];
  const wrong = new Map<number, number>();
  const start = performance.now();
  let end = start;
  const options: autocannon.Options = {
    url,
    connections,
    ...('amount' in length ? { amount: Math.max(length.amount, connections) } : { duration: length.seconds }),
    requests: [
      {
        setupRequest: (request) => ({ ...request, ...next() }),
        onResponse: (_status, body) => answered?.(body),
      },
    ],
  };
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const instance = autocannon(options, (error: unknown, done) =>
      error instanceof Error ? reject(error) : resolve(done),
    );
    instance.on('response', (_client, answer, _bytes, time) => {
      // Measures times here: autocannon's histogram has a resolution of 1 ms, and its end time is up to a second late.
      times.push(time);
      end = performance.now();
      if (answer !== status) wrong.set(answer, (wrong.get(answer) ?? 0) + 1);
    });
  });
  if (wrong.size > 0 || result.errors > 0)
    throw new Error(`${name}: ${result.errors} errors, other answers ${JSON.stringify([...wrong])}`);
  times.sort((a, b) => a - b);
  const at = (part: number) => times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? NaN;
  const perSecond = (times.length / (end - start)) * 1000;
  return { requests: times.length, perSecond, p50: at(0.5), p99: at(0.99) };
}
