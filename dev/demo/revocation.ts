import { setTimeout as sleep } from 'node:timers/promises';
import type { Product, Tokens } from './product.js';
import { mustBe, StepFailure } from './step-failure.js';
import type { Transcript } from './transcript.js';

// Revocation is broadcast and takes milliseconds; a person would not notice a second.
const AT_MOST_MS = 5_000;
const BETWEEN_MS = 50;

/**
 * A code that comes twice has been stolen (RFC 6749 4.1.2): it is refused, and what it gave is taken back.
 *
 * @throws StepFailure
 */
export async function revocation({
  product,
  transcript,
  code,
  newest,
}: {
  product: Product;
  transcript: Transcript;
  code: string;
  newest: Tokens;
}): Promise<void> {
  await transcript.step('A thief presents the code again', async () => {
    const { status, json } = await product.presentCode(code);
    mustBe('status', 400, status);
    mustBe('error', 'invalid_grant', json['error'] as string);
    return { proof: 'refused, since a code works once', value: undefined };
  });

  await transcript.step('So the newest access token is revoked too', async () => {
    const begun = performance.now();
    for (;;) {
      const { status } = await product.me(newest);
      const passed = Math.round(performance.now() - begun);
      if (status === 401) return { proof: `the API refuses it ${passed} ms after`, value: undefined };
      mustBe('status', 200, status);
      if (passed > AT_MOST_MS)
        throw new StepFailure('status 401 within 5 seconds', `status 200 after ${passed} ms`);
      await sleep(BETWEEN_MS);
    }
  });
}
