import { randomBytes } from 'node:crypto';
import { DEVICE_CODE } from '#oauth/device-authorization.js';
import { ENDPOINTS } from '#oauth/endpoints.js';

export interface OAuthRequest {
  readonly app: 'token' | 'resource';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent by POST as application/x-www-form-urlencoded. */
  readonly form?: Readonly<Record<string, string>>;
}

interface Credentials {
  readonly client_id: string;
  /** Absent for a public client. */
  readonly client_secret?: string | undefined;
}

/** Builds the requests of an application's server and passes them to `send`. */
export class OAuthClient<Answer> {
  constructor(
    private readonly credentials: Credentials,
    private readonly redirectUri: string,
    private readonly send: (request: OAuthRequest) => Answer,
  ) {}

  authorizationUrl(authUrl: string, parameters: Readonly<Record<string, string>> = {}): URL {
    const url = new URL(ENDPOINTS.authorize, authUrl);
    url.search = new URLSearchParams({
      client_id: this.credentials.client_id,
      redirect_uri: this.redirectUri,
      response_type: 'code',
      state: randomBytes(24).toString('base64url'),
      ...parameters,
    }).toString();
    return url;
  }

  redeem(code: string, parameters: Readonly<Record<string, string>> = {}): Answer {
    const form = { grant_type: 'authorization_code', code, redirect_uri: this.redirectUri, ...parameters };
    return this.post(ENDPOINTS.token, form);
  }

  /** Device authorization request (RFC 8628 3.1). */
  requestDevice(parameters: Readonly<Record<string, string>> = {}): Answer {
    return this.post(ENDPOINTS.deviceAuthorization, parameters);
  }

  /** Token request of a device (RFC 8628 3.4). */
  poll(deviceCode: string): Answer {
    return this.post(ENDPOINTS.token, { grant_type: DEVICE_CODE, device_code: deviceCode });
  }

  refresh(refreshToken: string): Answer {
    return this.post(ENDPOINTS.token, { grant_type: 'refresh_token', refresh_token: refreshToken });
  }

  /** Refresh request of docs/specification.md. */
  refreshWithBearer(refreshToken: string): Answer {
    return this.post(ENDPOINTS.refreshToken, { grant_type: 'refresh_token' }, bearer(refreshToken));
  }

  revoke(token: string): Answer {
    return this.post(ENDPOINTS.revoke, { token });
  }

  me(accessToken: string): Answer {
    return this.send({ app: 'resource', path: ENDPOINTS.me, headers: bearer(accessToken) });
  }

  private post(
    path: string,
    parameters: Record<string, string>,
    headers: Record<string, string> = {},
  ): Answer {
    const { client_id, client_secret } = this.credentials;
    const form = { ...parameters, client_id, ...(client_secret !== undefined && { client_secret }) };
    return this.send({ app: 'token', path, headers, form });
  }
}

/** Sends a request. Does not follow redirects. */
export function sendTo(origin: string, { path, headers = {}, form }: OAuthRequest): Promise<Response> {
  const body = form && { method: 'POST', body: new URLSearchParams(form) };
  return fetch(origin + path, { redirect: 'manual', headers, ...body });
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
