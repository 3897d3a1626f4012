import { setTimeout as sleep } from 'node:timers/promises';

const RETRY_DEADLINE_MS = 60_000;
const PAUSE_MS = 100;

/** The final answer to a request. */
export interface Outcome {
  readonly status: number;
  readonly location: string | null;
  readonly text: string;
  /** Whether a 503 came before it. */
  readonly retried: boolean;
  /** Milliseconds until the final answer. */
  readonly elapsedMs: number;
}

/** Repeats a request on 503, as a robust client does. */
export async function retryUntilAvailable(send: () => Promise<Response>): Promise<Outcome> {
  const startedAt = performance.now();
  for (let retries = 0; ; retries++) {
    const answer = await send();
    const text = await answer.text();
    const elapsedMs = performance.now() - startedAt;
    const { status, headers } = answer;
    if (status !== 503 || elapsedMs > RETRY_DEADLINE_MS)
      return { status, location: headers.get('location'), text, retried: retries > 0, elapsedMs };
    await sleep(PAUSE_MS);
  }
}
