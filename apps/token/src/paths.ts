/** Paths of the token app: routes, metadata and CORS are derived from here. */
export const PATHS = {
  token: 'api/auth/oauth/token',
  refreshToken: 'api/auth/oauth/refreshToken',
  revoke: 'api/auth/oauth/revoke',
  par: 'api/auth/oauth/par',
  introspect: 'api/auth/oauth/introspect',
  metadata: '.well-known/oauth-authorization-server',
} as const;
