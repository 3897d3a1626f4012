/** Settings of an app with pages for logged-in users. */
export abstract class PagesOptions {
  /** Part of the names of cookies and Redis keys, and of the purposes of keys. */
  abstract readonly app: 'console' | 'developers';
  /** Origin of the pages. With https, the cookies are Secure. */
  abstract readonly url: string;
  abstract readonly login: {
    readonly issuer: string;
    readonly clientId: string;
    /** Also encrypts sessions, kept forms and repeatable responses in Redis. */
    readonly clientSecret: string;
    /** Scopes to request in addition to `openid profile email`. */
    readonly scope: string;
    readonly clockSkew: number;
    /** True if the app uses the access token after the login, and revokes it at the log-out. */
    readonly keepsToken: boolean;
    /** For an operator: remedy for metadata that cannot be used. */
    readonly invalidMetadata: string;
  };
  /** Returns true for an error after which the request certainly changed nothing. */
  abstract readonly changedNothing: (error: unknown) => boolean;
}
