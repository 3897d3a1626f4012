import { consent } from './consent.js';
import { Application } from './application.js';
import type { RunFile } from './run-file.js';
import { revocation } from './revocation.js';
import type { Transcript } from './transcript.js';

/**
 * Runs the whole flow against the running product, as an application and a browser do, and shows at its end
 * that the second use of a code revokes its tokens.
 *
 * @throws StepFailure that names the first failed step
 */
export async function runDemo(run: RunFile, transcript: Transcript): Promise<void> {
  const application = new Application(run, transcript);
  transcript.secrets.add(run.user.password, '…');
  transcript.line(`The OAuth flow against ${run.auth_url}, ${run.base_url} and ${run.api_url}.`);
  transcript.line('→ is sent, ← is answered; secrets are shown by their first letters.');

  const code = await consent(run, transcript);
  const first = await transcript.step('The application exchanges the code for tokens', async () => {
    const value = await application.exchangeCode(code);
    return { proof: 'an access token and a refresh token', value };
  });
  await transcript.step('The access token opens the API', () => application.checkApiAccess(first));
  const second = await transcript.step('The application renews the tokens', async () => {
    const value = await application.refresh(first);
    return { proof: 'two new tokens, by the refresh token as Bearer', value };
  });
  await transcript.step('The new access token opens the API too', () => application.checkApiAccess(second));
  await revocation({ application, transcript, code, newest: second });

  transcript.line('');
  transcript.line('✓ Every step holds.', 32);
}
