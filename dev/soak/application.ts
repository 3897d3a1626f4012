import { ENDPOINTS } from '#oauth/endpoints.js';
import { DpopKey } from '#testing/dpop-key.js';
import type { Authorization } from './browser.js';
import { type Client, type Installation, REDIRECT_URI } from './installation.js';
import type { Pair } from './model.js';
import type { Compose, Requests, Try } from './requests.js';

/** The server of a third-party application: its requests, and what they look like. */
export class Application {
  private constructor(
    private readonly requests: Requests,
    private readonly installation: Installation,
    readonly client: Client,
    private readonly resourceServer: Required<Client>,
    /** Its DPoP key (RFC 9449); null when its tokens are bearer tokens. */
    readonly key: DpopKey | null,
  ) {}

  static async of(
    requests: Requests,
    installation: Installation,
    client: Client,
    resourceServer: Required<Client>,
    bound: boolean,
  ): Promise<Application> {
    const key = bound ? await DpopKey.generate() : null;
    return new Application(requests, installation, client, resourceServer, key);
  }

  redeeming({ code, verifier }: Authorization): Compose {
    return this.tokenRequest({
      grant_type: 'authorization_code',
      code,
      redirect_uri: REDIRECT_URI,
      code_verifier: verifier,
    });
  }

  refreshing({ refreshToken }: Pair): Compose {
    return this.tokenRequest({ grant_type: 'refresh_token', refresh_token: refreshToken });
  }

  revoking(token: string): Compose {
    return () => ({ path: ENDPOINTS.revoke, form: { token, ...this.client } });
  }

  /** Uses an access token at the API, once. */
  me(pair: Pair, compose = this.using(pair)): Promise<Try> {
    return this.requests.once(this.key ? 'me with DPoP' : 'me', compose);
  }

  /** Uses it until the API can tell whether it is good, but not more often than that. */
  mePatiently(pair: Pair, most: number): Promise<Try> {
    const tries: Try[] = [];
    const enough = () => tries.length >= most;
    return this.requests.patiently(this.key ? 'me with DPoP' : 'me', this.using(pair), tries, enough);
  }

  using({ accessToken }: Pair): Compose {
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

  /** As an API does that does not use our library (RFC 7662). */
  introspecting({ accessToken: token }: Pair): Compose {
    return () => ({ path: ENDPOINTS.introspect, form: { token, ...this.resourceServer } });
  }

  private tokenRequest(form: Record<string, string>): Compose {
    return async () => {
      const proof = await this.key?.proof('POST', `${this.installation.urls.BASE_URL}${ENDPOINTS.token}`);
      return {
        path: ENDPOINTS.token,
        form: { ...form, ...this.client },
        ...(proof !== undefined && { headers: { DPoP: proof } }),
      };
    };
  }
}
