/** RFC 6749 2.1: a public client cannot keep a secret and has none. */
export type ClientType = 'confidential' | 'public';

/** What the rules of the protocol need to know of a registered client. */
export interface OAuthClient {
  readonly clientId: string;
  readonly type: ClientType;
  /** Compared with a request's redirect_uri character by character. */
  readonly redirectUris: readonly string[];
  /** The scopes that it may request, never empty. */
  readonly scopes: readonly string[];
}

// RFC 6749 A.1: visible ASCII.
const CLIENT_ID = /^[!-~]{1,255}$/;

/** Whether a text can be the identifier of a client or resource server. Others, some with NUL, never reach a database. */
export function isClientId(text: string): boolean {
  return CLIENT_ID.test(text);
}
