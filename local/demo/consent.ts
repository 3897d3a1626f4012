import { type Answer, exchange } from './exchange.js';
import { OAuthClient } from './oauth-client.js';
import { CookieJar } from './cookie-jar.js';
import { findForm } from './html-form.js';
import type { RunFile } from './run-script.js';
import { expectEqual, StepFailure, type Transcript } from './transcript.js';

/** Opens the authorization URL, logs in and consents. @returns the code @throws StepFailure */
export async function consent(run: RunFile, transcript: Transcript): Promise<string> {
  const browser = new CookieJar();
  const application = new OAuthClient(run.client, run.client.redirect_uri, () => undefined);
  // `prompt=consent` shows the consent page even if the user consented in a previous run.
  const authorizationUrl = application.authorizationUrl(run.auth_url, { prompt: 'consent' });
  const state = authorizationUrl.searchParams.get('state') ?? '';
  transcript.secrets.add(state);

  const loginUrl = await transcript.step(
    'The application redirects the browser to the authorization URL',
    async () => {
      const answer = await exchange(transcript, { url: authorizationUrl, browser });
      return { proof: 'a redirect to the login page', value: redirect(answer, run.auth_url) };
    },
  );

  const loginPage = await transcript.step('The browser opens the login page', async () => {
    const answer = await exchange(transcript, { url: loginUrl, browser });
    expectEqual('status', 200, answer.status);
    const form = findForm(answer.text, loginUrl, 'password');
    addSecrets(transcript, form.fields);
    return { proof: 'a form for username and password', value: form };
  });

  const consentUrl = await transcript.step('The user logs in', async () => {
    const form = { ...loginPage.fields, username: run.user.email, password: run.user.password };
    const answer = await exchange(transcript, { url: loginPage.action, form, browser });
    return { proof: 'a redirect back to the authorization URL', value: redirect(answer, run.auth_url) };
  });

  const consentPage = await transcript.step('The browser opens the consent page', async () => {
    const answer = await exchange(transcript, { url: consentUrl, browser });
    expectEqual('status', 200, answer.status);
    const form = findForm(answer.text, consentUrl, 'decision=allow');
    addSecrets(transcript, form.fields);
    return { proof: 'a form with an Allow button', value: form };
  });

  return transcript.step('The user clicks Allow', async () => {
    const form = { ...consentPage.fields, decision: 'allow' };
    const answer = await exchange(transcript, { url: consentPage.action, form, browser });
    const target = redirect(answer, new URL(run.client.redirect_uri).origin);
    expectEqual('redirect to', run.client.redirect_uri, `${target.origin}${target.pathname}`);
    expectEqual('state', state, target.searchParams.get('state'));
    // RFC 9207 2.4: iss must be the issuer that the request was sent to.
    expectEqual('iss', run.base_url, target.searchParams.get('iss'));
    const code = target.searchParams.get('code');
    if (!code)
      throw new StepFailure('a code at the redirect URI', `error ${target.searchParams.get('error')}`);
    return { proof: 'a code, the state and the issuer', value: code };
  });
}

/** Returns the target. @throws StepFailure if the response does not continue at the expected origin */
function redirect({ status, location }: Answer, origin: string): URL {
  if (location === null) expectEqual('status', 303, status);
  if (location?.origin !== origin) throw new StepFailure(`Location at ${origin}`, location?.href ?? '(none)');
  return location;
}

/** Shortens field values of at least 16 characters, such as CSRF tokens, in the transcript. */
function addSecrets(transcript: Transcript, fields: Readonly<Record<string, string>>): void {
  for (const value of Object.values(fields)) if (value.length >= 16) transcript.secrets.add(value);
}
