/** Paths for routes, metadata, CORS, redirects and commands, except the paths of the internal port. */
export const ENDPOINTS = {
  // {auth_url}: the authorize app
  authorize: '/auth/oauth2/authorize',
  login: '/auth/login',
  loginCallback: '/auth/login/callback',
  loginKeys: '/auth/login/jwks.json',
  backChannelLogout: '/auth/login/back-channel-logout',
  /** `end_session_endpoint` (section 2.1 of RP-Initiated Logout 1.0). */
  logout: '/auth/logout',
  logoutConfirm: '/auth/logout/confirm',
  logoutEverywhere: '/auth/logout-everywhere',
  account: '/auth/',
  language: '/auth/language',
  connectedApps: '/auth/apps',
  revokeApp: '/auth/apps/revoke',
  revokeAllApps: '/auth/apps/revoke-all',
  /** `verification_uri` (RFC 8628 3.2). */
  device: '/auth/device',
  deviceDecision: '/auth/device/decision',
  logos: '/auth/logos',
  brand: '/auth/brand',
  errorGuide: '/auth/errors',
  // {base_url}: the token app
  token: '/api/auth/oauth/token',
  refreshToken: '/api/auth/oauth/refreshToken',
  revoke: '/api/auth/oauth/revoke',
  introspect: '/api/auth/oauth/introspect',
  par: '/api/auth/oauth/par',
  deviceAuthorization: '/api/auth/oauth/device_authorization',
  openApi: '/api/auth/oauth/openapi.json',
  errors: '/api/auth/oauth/errors',
  jwks: '/api/auth/oauth/jwks',
  openIdConfiguration: '/.well-known/openid-configuration',
  authorizationServerMetadata: '/.well-known/oauth-authorization-server',
  // {api_url}: the resource app
  me: '/v2/me',
  userInfo: '/userinfo',
  resourceOpenApi: '/v2/me/openapi.json',
  protectedResourceMetadata: '/.well-known/oauth-protected-resource',
  // {console_url}: the console, for operators only
  admin: '/admin/v1',
} as const;

/** Scope that `ENDPOINTS.me` requires. */
export const ME_SCOPE = 'profile:read';
