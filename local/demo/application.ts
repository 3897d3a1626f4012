import { type Answer, exchange } from './exchange.js';
import { OAuthClient } from './oauth-client.js';
import type { RunFile } from './run-script.js';
import { expectEqual, StepFailure, type Transcript } from './transcript.js';

export interface Tokens {
  accessToken: string;
  refreshToken: string;
}

/** Sends the requests of docs/specification.md and checks the responses. */
export class Application {
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
