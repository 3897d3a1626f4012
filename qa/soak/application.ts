import { ENDPOINTS } from '#oauth/endpoints.js';
import { OAuthClient, type OAuthRequest } from '#local/demo/oauth-client.js';
import { DpopKey } from '#test/support/keys.js';
import type { Authorization } from './browser.js';
import {
  type Client,
  type Installation,
  OPENID_SCOPE,
  type RegisteredClient,
  REDIRECT_URI,
} from './installation.js';
import type { TokenPair } from './id-token.js';
import type { BuildRequest, Requests, Attempt } from './requests.js';

/** Builds the requests of an application's server, and of an API that introspects the application's tokens. */
export class Application {
  private readonly messages: OAuthClient<OAuthRequest>;

  private constructor(
    private readonly requests: Requests,
    private readonly installation: Installation,
    readonly client: RegisteredClient,
    private readonly resourceServer: Required<Client>,
    /** DPoP key (RFC 9449); null for bearer tokens. */
    readonly key: DpopKey | null,
  ) {
    this.messages = new OAuthClient(client, REDIRECT_URI, (request) => request);
  }

  static async create(
    requests: Requests,
    installation: Installation,
    client: RegisteredClient,
    resourceServer: Required<Client>,
    bound: boolean,
  ): Promise<Application> {
    const key = bound ? await DpopKey.generate() : null;
    return new Application(requests, installation, client, resourceServer, key);
  }

  get issuer(): string {
    return this.installation.urls.BASE_URL;
  }

  /** @param address client address of the device, which the load balancer forwards */
  deviceRequest(address: string): BuildRequest {
    const scope = this.client.isOpenId ? { scope: OPENID_SCOPE } : {};
    return () => ({ ...this.messages.requestDevice(scope), headers: { 'X-Forwarded-For': address } });
  }

  redeemRequest({ code, verifier }: Pick<Authorization, 'code' | 'verifier'>): BuildRequest {
    return this.withProof(
      verifier === undefined
        ? this.messages.poll(code)
        : this.messages.redeem(code, { code_verifier: verifier }),
    );
  }

  refreshRequest({ refreshToken }: TokenPair): BuildRequest {
    return this.withProof(this.messages.refresh(refreshToken));
  }

  revokeRequest(token: string): BuildRequest {
    return () => this.messages.revoke(token);
  }

  callApi(pair: TokenPair, buildRequest = this.apiRequest(pair)): Promise<Attempt> {
    return this.requests.send(this.key ? 'me with DPoP' : 'me', buildRequest);
  }

  callApiUntilAnswered(pair: TokenPair, maxAttempts: number): Promise<Attempt> {
    const attempts: Attempt[] = [];
    const stopWhen = () => attempts.length >= maxAttempts;
    return this.requests.sendUntilAnswered(
      this.key ? 'me with DPoP' : 'me',
      this.apiRequest(pair),
      attempts,
      stopWhen,
    );
  }

  apiRequest({ accessToken }: TokenPair): BuildRequest {
    return async () => {
      const scheme = this.key ? 'DPoP' : 'Bearer';
      const htu = this.installation.urls.API_URL + ENDPOINTS.me;
      const proof = await this.key?.proof('GET', htu, { accessToken });
      return {
        path: ENDPOINTS.me,
        headers: { Authorization: `${scheme} ${accessToken}`, ...(proof !== undefined && { DPoP: proof }) },
      };
    };
  }

  /** Builds an introspection request (RFC 7662). */
  introspectRequest({ accessToken: token }: TokenPair): BuildRequest {
    return () => ({ path: ENDPOINTS.introspect, form: { token, ...this.resourceServer } });
  }

  private withProof(message: OAuthRequest): BuildRequest {
    return async () => {
      const proof = await this.key?.proof('POST', this.installation.urls.BASE_URL + message.path);
      return proof === undefined ? message : { ...message, headers: { DPoP: proof } };
    };
  }
}
