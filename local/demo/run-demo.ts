import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, exchange } from './exchange.js';
import { OAuthClient } from './oauth-client.js';
import { CookieJar, findForm } from './html-form.js';
import type { RunFile } from './run-script.js';
import { expectEqual, StepFailure, type Transcript } from './transcript.js';

/** Opens the authorization URL, logs in and consents. @returns the code @throws StepFailure */
async function consent(run: RunFile, transcript: Transcript): Promise<string> {
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

interface Tokens {
  accessToken: string;
  refreshToken: string;
}

/** Sends the requests of docs/specification.md and checks the responses. */
class Application {
  readonly client: OAuthClient<Promise<Answer>>;

  constructor(
    private readonly run: RunFile,
    transcript: Transcript,
  ) {
    const { client, base_url, api_url } = run;
    this.client = new OAuthClient(client, client.redirect_uri, ({ app, path, headers, form }) =>
      exchange(transcript, { url: (app === 'token' ? base_url : api_url) + path, headers, form }),
    );
  }

  /** @throws StepFailure */
  async exchangeCode(code: string): Promise<Tokens> {
    return tokens(await this.client.redeem(code));
  }

  /** @throws StepFailure */
  async refresh(previous: Tokens): Promise<Tokens> {
    const next = tokens(await this.client.refreshWithBearer(previous.refreshToken));
    if (next.accessToken === previous.accessToken || next.refreshToken === previous.refreshToken) {
      throw new StepFailure('two new tokens', 'a token that did not change');
    }
    return next;
  }

  async checkApiAccess({ accessToken }: Tokens): Promise<{ proof: string; value: void }> {
    const { status, json } = await this.client.me(accessToken);
    expectEqual('status', 200, status);
    expectEqual('answer status', 'success', json['status'] as string);
    const { email, name } = (json['data'] ?? {}) as Record<string, string | undefined>;
    expectEqual('data.email', this.run.user.email, email);
    return { proof: `the account of ${name}`, value: undefined };
  }
}

function tokens({ status, json }: Answer): Tokens {
  expectEqual('status', 200, status);
  expectEqual('token_type', 'Bearer', json['token_type'] as string);
  const { access_token: accessToken, refresh_token: refreshToken } = json;
  if (typeof accessToken !== 'string' || typeof refreshToken !== 'string') {
    throw new StepFailure('access_token and refresh_token', `fields ${Object.keys(json).join(', ')}`);
  }
  return { accessToken, refreshToken };
}

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
