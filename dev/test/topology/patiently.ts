import { setTimeout as sleep } from 'node:timers/promises';

const GIVES_UP_MS = 60_000;
const PAUSE_MS = 100;

/** What a request came to in the end. */
export interface Outcome {
  readonly status: number;
  readonly location: string | null;
  readonly text: string;
  /** Whether it was answered 503 before. */
  readonly refused: boolean;
  /** Milliseconds until the last answer. */
  readonly took: number;
}

/** Asks as a well-made client does: 503 means to ask the same again, anything else is an answer. */
export async function patiently(ask: () => Promise<Response>): Promise<Outcome> {
  const began = performance.now();
  for (let tries = 0; ; tries++) {
    const answer = await ask();
    const text = await answer.text();
    const took = performance.now() - began;
    const { status, headers } = answer;
    if (status !== 503 || took > GIVES_UP_MS)
      return { status, location: headers.get('location'), text, refused: tries > 0, took };
    await sleep(PAUSE_MS);
  }
}
