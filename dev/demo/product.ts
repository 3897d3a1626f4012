import { ENDPOINTS } from '#oauth/endpoints.js';
import { type Answer, exchange } from './exchange.js';
import type { RunFile } from './run-file.js';
import { mustBe, StepFailure } from './step-failure.js';
import type { Transcript } from './transcript.js';

/** What the token and refresh endpoints give. */
export interface Tokens {
  accessToken: string;
  refreshToken: string;
}

/** The application's part: what it asks of the token endpoints and of the API. */
export class Product {
  constructor(
    private readonly run: RunFile,
    private readonly transcript: Transcript,
  ) {}

  /** The token request of docs/specification.md. @throws StepFailure */
  async exchangeCode(code: string): Promise<Tokens> {
    return tokens(await this.presentCode(code));
  }

  /** The same request whatever its answer. @throws StepFailure */
  presentCode(code: string): Promise<Answer> {
    return exchange(this.transcript, {
      method: 'POST',
      url: this.run.base_url + ENDPOINTS.token,
      form: { grant_type: 'authorization_code', code, ...this.run.client },
    });
  }

  /** The refresh request of docs/specification.md. @throws StepFailure */
  async renew(before: Tokens): Promise<Tokens> {
    const { client_id, client_secret } = this.run.client;
    const answer = await exchange(this.transcript, {
      method: 'POST',
      url: this.run.base_url + ENDPOINTS.refreshToken,
      bearer: before.refreshToken,
      form: { grant_type: 'refresh_token', client_id, client_secret },
    });
    const next = tokens(answer);
    if (next.accessToken === before.accessToken || next.refreshToken === before.refreshToken) {
      throw new StepFailure('two new tokens', 'one that is the same as before');
    }
    return next;
  }

  /** The credential check of docs/specification.md. @throws StepFailure */
  me({ accessToken }: Tokens): Promise<Answer> {
    return exchange(this.transcript, { url: `${this.run.api_url}/v2/me`, bearer: accessToken });
  }

  /** `me`, which must answer with the user who allowed. @throws StepFailure */
  async opensApi(held: Tokens): Promise<{ proof: string; value: void }> {
    const { status, json } = await this.me(held);
    mustBe('status', 200, status);
    mustBe('answer status', 'success', json['status'] as string);
    const { email, name } = (json['data'] ?? {}) as Record<string, string | undefined>;
    mustBe('data.email', this.run.user.email, email);
    return { proof: `it is ${name}'s account`, value: undefined };
  }
}

function tokens({ status, json }: Answer): Tokens {
  mustBe('status', 200, status);
  mustBe('token_type', 'Bearer', json['token_type'] as string);
  const { access_token: accessToken, refresh_token: refreshToken } = json;
  if (typeof accessToken !== 'string' || typeof refreshToken !== 'string') {
    throw new StepFailure('access_token and refresh_token', `fields ${Object.keys(json).join(', ')}`);
  }
  return { accessToken, refreshToken };
}
