import { consent } from './consent.js';
import { Product } from './product.js';
import type { RunFile } from './run-file.js';
import { revocation } from './revocation.js';
import type { Transcript } from './transcript.js';

/**
 * Drives the whole flow against the running product, as an application and a browser would, and shows at its end
 * that a code which is used twice takes everything back.
 *
 * @throws StepFailure naming the first step that did not hold
 */
export async function runDemo(run: RunFile, transcript: Transcript): Promise<void> {
  const product = new Product(run, transcript);
  transcript.secrets.add(run.user.password, '…');
  transcript.line(`The OAuth flow against ${run.auth_url}, ${run.base_url} and ${run.api_url}.`);
  transcript.line('→ is sent, ← is answered; secrets are shown by their first letters.');

  const code = await consent(run, transcript);
  const first = await transcript.step('The application exchanges the code for tokens', async () => {
    const value = await product.exchangeCode(code);
    return { proof: 'an access token and a refresh token', value };
  });
  await transcript.step('The access token opens the API', () => product.opensApi(first));
  const second = await transcript.step('The application renews the tokens', async () => {
    const value = await product.renew(first);
    return { proof: 'two new tokens, by the refresh token as Bearer', value };
  });
  await transcript.step('The new access token opens the API too', () => product.opensApi(second));
  await revocation({ product, transcript, code, newest: second });

  transcript.line('');
  transcript.line('✓ Every step holds.', 32);
}
