import { consent } from './consent.js';
import { Application, type Tokens } from './application.js';
import type { RunFile } from './run-script.js';
import { expectEqual, StepFailure, type Transcript } from './transcript.js';
import { setTimeout as sleep } from 'node:timers/promises';

/** Runs the whole flow, and at the end reuses the code, which revokes the tokens. @throws StepFailure */
export async function runDemo(run: RunFile, transcript: Transcript): Promise<void> {
  const application = new Application(run, transcript);
  transcript.secrets.add(run.user.password, '…');
  transcript.line(`The OAuth flow against ${run.auth_url}, ${run.base_url} and ${run.api_url}.`);
  transcript.line('→ request, ← response. Secrets are shortened to their first letters.');

  const code = await consent(run, transcript);
  const first = await transcript.step('The application exchanges the code for tokens', async () => {
    const value = await application.exchangeCode(code);
    return { proof: 'an access token and a refresh token', value };
  });
  await transcript.step('The API accepts the access token', () => application.checkApiAccess(first));
  const second = await transcript.step('The application refreshes the tokens', async () => {
    const value = await application.refresh(first);
    return { proof: 'two new tokens; the refresh token was sent as Bearer', value };
  });
  await transcript.step('The API accepts the new access token', () => application.checkApiAccess(second));
  await revocation({ application, transcript, code, newest: second });

  transcript.line('');
  transcript.line('✓ Every step succeeded.', 32);
}

// A revocation is broadcast within milliseconds; this allows for a busy machine.
const MAX_DELAY_MS = 5_000;
const POLL_MS = 50;

/** Shows that a second use of the code revokes its tokens (RFC 6749 4.1.2). @throws StepFailure */
async function revocation({
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
    return { proof: 'rejected: a code can be redeemed once', value: undefined };
  });

  await transcript.step('The newest access token is revoked as well', async () => {
    const startedAt = performance.now();
    for (;;) {
      const { status } = await application.client.me(newest.accessToken);
      const elapsed = Math.round(performance.now() - startedAt);
      if (status === 401) return { proof: `the API rejects it after ${elapsed} ms`, value: undefined };
      expectEqual('status', 200, status);
      if (elapsed > MAX_DELAY_MS)
        throw new StepFailure('status 401 within 5 seconds', `status 200 after ${elapsed} ms`);
      await sleep(POLL_MS);
    }
  });
}
