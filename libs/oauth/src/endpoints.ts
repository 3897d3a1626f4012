/** At {auth_url}. */
const AUTHORIZE = {
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
} as const;

/** At {base_url}. */
const TOKEN = {
  token: '/api/auth/oauth/token',
  refreshToken: '/api/auth/oauth/refreshToken',
  revoke: '/api/auth/oauth/revoke',
  introspect: '/api/auth/oauth/introspect',
  par: '/api/auth/oauth/par',
  deviceAuthorization: '/api/auth/oauth/device_authorization',
  /** API of event streams (Shared Signals Framework 1.0), and resource of its tokens. */
  events: '/api/auth/oauth/events',
  eventStream: '/api/auth/oauth/events/stream',
  eventStatus: '/api/auth/oauth/events/status',
  addEventSubject: '/api/auth/oauth/events/subjects/add',
  removeEventSubject: '/api/auth/oauth/events/subjects/remove',
  verifyEventStream: '/api/auth/oauth/events/verify',
  eventPoll: '/api/auth/oauth/events/poll',
  ssfConfiguration: '/.well-known/ssf-configuration',
  openApi: '/api/auth/oauth/openapi.json',
  errors: '/api/auth/oauth/errors',
  jwks: '/api/auth/oauth/jwks',
  openIdConfiguration: '/.well-known/openid-configuration',
  authorizationServerMetadata: '/.well-known/oauth-authorization-server',
} as const;

/** At {api_url}. */
const RESOURCE = {
  me: '/v2/me',
  userInfo: '/userinfo',
  resourceOpenApi: '/v2/me/openapi.json',
  protectedResourceMetadata: '/.well-known/oauth-protected-resource',
} as const;

/** Paths for routes, metadata, CORS, redirects and commands, except the paths of the internal port. */
export const ENDPOINTS = {
  ...AUTHORIZE,
  ...TOKEN,
  ...RESOURCE,
  /** At {console_url}, for operators only. */
  admin: '/admin/v1',
} as const;

/** Public paths of each app, which the ingress routes to the app. */
export const PUBLIC_PATHS = {
  authorize: Object.values<string>(AUTHORIZE),
  token: Object.values<string>(TOKEN),
  resource: Object.values<string>(RESOURCE),
} as const;

/** Scope that `ENDPOINTS.me` requires. */
export const ME_SCOPE = 'profile:read';
