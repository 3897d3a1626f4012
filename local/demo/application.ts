import { ENDPOINTS } from '#oauth/endpoints.js';
import { type Answer, exchange } from './exchange.js';
import type { RunFile } from './run-file.js';
import { expectEqual, StepFailure } from './step-failure.js';
import type { Transcript } from './transcript.js';

export interface Tokens {
  accessToken: string;
  refreshToken: string;
}

/** The application's requests to the token endpoints and the API. */
export class Application {
  constructor(
    private readonly run: RunFile,
    private readonly transcript: Transcript,
  ) {}

  /** The token request of docs/specification.md. @throws StepFailure */
  async exchangeCode(code: string): Promise<Tokens> {
    return tokens(await this.presentCode(code));
  }

  /** The token request, with any answer. @throws StepFailure */
  presentCode(code: string): Promise<Answer> {
    return exchange(this.transcript, {
      method: 'POST',
      url: this.run.base_url + ENDPOINTS.token,
      form: { grant_type: 'authorization_code', code, ...this.run.client },
    });
  }

  /** The refresh request of docs/specification.md. @throws StepFailure */
  async refresh(previous: Tokens): Promise<Tokens> {
    const { client_id, client_secret } = this.run.client;
    const answer = await exchange(this.transcript, {
      method: 'POST',
      url: this.run.base_url + ENDPOINTS.refreshToken,
      bearer: previous.refreshToken,
      form: { grant_type: 'refresh_token', client_id, client_secret },
    });
    const next = tokens(answer);
    if (next.accessToken === previous.accessToken || next.refreshToken === previous.refreshToken) {
      throw new StepFailure('two new tokens', 'one that is the same as before');
    }
    return next;
  }

  /** The credential check of docs/specification.md. @throws StepFailure */
  me({ accessToken }: Tokens): Promise<Answer> {
    return exchange(this.transcript, { url: `${this.run.api_url}/v2/me`, bearer: accessToken });
  }

  /** Calls `me` and checks that it returns the user who allowed access. @throws StepFailure */
  async checkApiAccess(tokens: Tokens): Promise<{ proof: string; value: void }> {
    const { status, json } = await this.me(tokens);
    expectEqual('status', 200, status);
    expectEqual('answer status', 'success', json['status'] as string);
    const { email, name } = (json['data'] ?? {}) as Record<string, string | undefined>;
    expectEqual('data.email', this.run.user.email, email);
    return { proof: `it is ${name}'s account`, value: undefined };
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
