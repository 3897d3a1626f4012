import { unauthorizedClient } from './client-credentials.js';
import type { ClientType, OAuthClient } from './oauth-client.js';
import { OAuthError } from './oauth-error.js';
import { LIMITS } from './parameters.js';

const LOOPBACK =
  /^http:\/\/(?<host>127\.0\.0\.1|\[::1\]|localhost)(?::(?<port>[1-9]\d{0,4}))?(?<path>\/[^?]*)?(?<query>\?.*)?$/;
// Reversed domain name (RFC 8252 7.1), which only its owner can claim.
const REVERSE_DOMAIN = /^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+$/;

/** Maximum number of `privateSchemes` of a client. */
export const MAX_PRIVATE_SCHEMES = 5;

const PRIVATE_SCHEME = /^[a-z][a-z0-9+-]{1,49}$/;

/**
 * Schemes that browsers or operating systems handle themselves, which would run, show, install or send what follows.
 * From: IANA's list of URI schemes, Apple's URL Scheme Reference, and schemes registered by macOS, Windows and Android.
 */
const SYSTEM_SCHEMES: ReadonlySet<string> = new Set(
  `about addressbook afp android-app app-prefs app-settings appinstaller applescript apt bingmaps bingnews bingweather
  blob brave callto chrome cid cifs content data dav davs devtools dict edge facetime facetime-audio facetime-group
  feed feeds file filesystem firefox ftp ftps geo git gopher hcp help http https ibooks ical imap imessage
  insertfontspec intent irc itms itmss its itunes jar javascript jnlp jnlps ldap ldaps livescript local macappstore
  macappstores magnet mailto mapi maps market message messages mhtml mid mk mms mmsto mswindowsmusic mswindowsvideo
  music news nfs nntp onenote opera outlookfeed outlookfeeds package photos-redirect podcasts pop prefs rdp res
  resource rlogin rtmp rtsp rtsps rtspu safari search search-ms sftp shell shortcuts sip sips smb smbs sms smsto ssh
  stickynotes stssync svn tel telnet telprompt terminal tip tn3270 tv urn vbs vbscript videos view-source vivaldi vnc
  wais webcal webcals webdav webdavs windowsdefender workflow ws wss wyciwyg x-apple x-dictionary x-help-action
  x-help-script x-man-page x-radar x-web-search x-webdoc xbox xmpp`.split(/\s+/),
);

const SYSTEM_PREFIX = /^(?:apple|chrome|edge|itms|microsoft|moz|ms|safari|webkit|x-apple)-/;

export type PrivateSchemeProblem = 'reversed_domain' | 'malformed' | 'reserved';

/**
 * RFC 8252 7.1: a private-use scheme is "based on a domain name under their control, expressed in reverse order".
 * Known deviation: the operator may admit another scheme for one client, if its maker has fixed the callback.
 */
export function privateSchemeProblem(scheme: string): PrivateSchemeProblem | null {
  if (REVERSE_DOMAIN.test(scheme)) return 'reversed_domain';
  if (!PRIVATE_SCHEME.test(scheme)) return 'malformed';
  return SYSTEM_SCHEMES.has(scheme) || SYSTEM_PREFIX.test(scheme) ? 'reserved' : null;
}

/** Returns true for a scheme of another kind than https, http and reversed domain names. */
export function needsAdmission(uri: string): boolean {
  const scheme = uri.slice(0, uri.indexOf(':'));
  return scheme !== 'https' && scheme !== 'http' && !REVERSE_DOMAIN.test(scheme);
}

/** @param hostname as in `URL.hostname` */
export function isLoopback(hostname: string): boolean {
  return ['127.0.0.1', '[::1]', 'localhost'].includes(hostname);
}

/**
 * Requires a registered redirect URI. RFC 6749 3.1.2.3 would permit a request without it if the client has only one.
 * @throws OAuthError unauthorized_client if the client has no redirect URIs; otherwise invalid_request
 */
export function checkRedirectUri(redirectUri: string | undefined, client: OAuthClient): string {
  if (client.redirectUris.length === 0)
    throw unauthorizedClient(client.clientId, 'grant_type_unregistered.without_redirect_uri');
  const detail = { client_id: client.clientId, registered: client.redirectUris };
  if (redirectUri === undefined)
    throw OAuthError.invalidRequest('redirect_uri_unregistered.missing', { detail });
  if (!isRegistered(redirectUri, client))
    throw OAuthError.invalidRequest('redirect_uri_unregistered', {
      detail: { ...detail, redirect_uri: redirectUri },
    });
  return redirectUri;
}

/**
 * RFC 9700 2.1: "authorization servers MUST utilize exact string matching except for port numbers in localhost
 * redirection URIs of native apps". Normalizing either side could redirect the browser to an unregistered URI.
 */
export function isRegistered(
  redirectUri: string,
  { redirectUris, type }: Pick<OAuthClient, 'redirectUris' | 'type'>,
): boolean {
  return redirectUris.some(
    (registered) =>
      registered === redirectUri || (type === 'public' && differInPortOnly(registered, redirectUri)),
  );
}

/**
 * Permits any port (RFC 8252 7.3), even for localhost, which 8.3 discourages but applications use. An empty path
 * equals "/" (RFC 3986 6.2.3).
 */
function differInPortOnly(registered: string, requested: string): boolean {
  const expected = LOOPBACK.exec(registered)?.groups;
  const actual = LOOPBACK.exec(requested)?.groups;
  if (!expected || !actual || Number(actual['port'] ?? 80) > 65_535) return false;
  const samePath = (expected['path'] ?? '/') === (actual['path'] ?? '/');
  return expected['host'] === actual['host'] && samePath && expected['query'] === actual['query'];
}

export interface RedirectUriRules {
  readonly type: ClientType;
  /** Schemes other than reversed domain names that the operator admits, such as `cursor`. */
  readonly privateSchemes?: readonly string[];
  /** FAPI 2.0 5.3.2.2: redirect URIs must use https, even on the developer's machine. */
  readonly profile?: 'fapi2' | null;
}

/** Reason why a URI cannot be registered. The error guide has the texts. */
export type RedirectUriProblem =
  | 'too_long'
  | 'characters'
  | 'percent'
  | 'wildcard'
  | 'relative'
  | 'fragment'
  | 'userinfo'
  | 'unencrypted'
  | 'unencrypted_fapi'
  | 'private_scheme'
  | 'unknown_scheme'
  | 'no_path'
  | 'dot_segment'
  | 'rewritten';

type Check = (uri: string, url: URL, rules: RedirectUriRules) => RedirectUriProblem | null;

/** The order matters: an earlier problem would make a later one misleading. */
const CHECKS: readonly Check[] = [
  // RFC 6749 3.1.2: "The endpoint URI MUST NOT include a fragment component."
  (uri) => (uri.includes('#') ? 'fragment' : null),
  userinfo,
  scheme,
  dotSegment,
  (uri, { href }) => (href === uri || href === `${uri}/` ? null : 'rewritten'),
];

/**
 * Accepts only a URI that browsers send unchanged, because requests must match it exactly (RFC 8252 7.1 to 7.3). Known
 * deviation from RFC 9700 4.1.3, which allows http only for native applications: a confidential client may register
 * loopback URIs, for development.
 */
export function registrationProblem(uri: string, rules: RedirectUriRules): RedirectUriProblem | null {
  if (uri.length > LIMITS.redirect_uri) return 'too_long';
  if (!/^[!-~]+$/.test(uri)) return 'characters';
  if (/%(?![0-9a-f]{2})/i.test(uri)) return 'percent';
  // Checked before parsing, because a wildcard as port or scheme makes the URI invalid.
  if (uri.includes('*')) return 'wildcard';
  if (!URL.canParse(uri)) return 'relative';
  const url = new URL(uri);
  for (const check of CHECKS) {
    const problem = check(uri, url, rules);
    if (problem) return problem;
  }
  return null;
}

/** Rejects `https://trusted.example@evil.example/`, which looks like the trusted site. */
function userinfo(uri: string, { username, password }: URL): RedirectUriProblem | null {
  const authority = /^[^:]+:\/\/([^/?]*)/.exec(uri)?.[1] ?? '';
  return username || password || authority.includes('@') ? 'userinfo' : null;
}

function scheme(
  uri: string,
  { protocol, hostname }: URL,
  { type, privateSchemes = [], profile = null }: RedirectUriRules,
): RedirectUriProblem | null {
  const name = protocol.slice(0, -1);
  if (name === 'https') return null;
  if (name === 'http' && profile === 'fapi2') return 'unencrypted_fapi';
  if (name === 'http') return isLoopback(hostname) ? null : 'unencrypted';
  if (type === 'confidential') return 'private_scheme';
  if (!REVERSE_DOMAIN.test(name) && !privateSchemes.includes(name)) return 'unknown_scheme';
  return /^[^:]+:\/./.test(uri) ? null : 'no_path';
}

/** Rejects dot segments, which a browser would resolve to an unregistered URI. */
function dotSegment(uri: string): RedirectUriProblem | null {
  const path = uri.split('?', 1)[0] ?? '';
  return /(^|[/\\])(\.|%2e){1,2}($|[/\\])/i.test(path) ? 'dot_segment' : null;
}
