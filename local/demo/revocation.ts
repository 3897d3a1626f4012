import { setTimeout as sleep } from 'node:timers/promises';
import type { Application, Tokens } from './application.js';
import { expectEqual, StepFailure } from './step-failure.js';
import type { Transcript } from './transcript.js';

// A revocation is broadcast within milliseconds; this allows for a busy machine.
const MAX_DELAY_MS = 5_000;
const POLL_MS = 50;

/**
 * RFC 6749 4.1.2: a code that is used twice is refused, and its tokens are revoked.
 *
 * @throws StepFailure
 */
export async function revocation({
  application,
  transcript,
  code,
  newest,
}: {
  application: Application;
  transcript: Transcript;
  code: string;
  newest: Tokens;
}): Promise<void> {
  await transcript.step('A thief presents the code again', async () => {
    const { status, json } = await application.client.redeem(code);
    expectEqual('status', 400, status);
    expectEqual('error', 'invalid_grant', json['error'] as string);
    return { proof: 'refused, since a code works once', value: undefined };
  });

  await transcript.step('So the newest access token is revoked too', async () => {
    const startedAt = performance.now();
    for (;;) {
      const { status } = await application.client.me(newest.accessToken);
      const elapsed = Math.round(performance.now() - startedAt);
      if (status === 401) return { proof: `the API refuses it ${elapsed} ms after`, value: undefined };
      expectEqual('status', 200, status);
      if (elapsed > MAX_DELAY_MS)
        throw new StepFailure('status 401 within 5 seconds', `status 200 after ${elapsed} ms`);
      await sleep(POLL_MS);
    }
  });
}
