import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { User } from '#users/user.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import type { OAuthError } from '#oauth/oauth-error.js';
import { isLoopback } from '#oauth/redirect-uri.js';
import { hasRoute } from '#platform/http/failed-request.js';
import { afterLogin, rawQuery, withQuery } from '../urls.js';
import { AuthorizeConfiguration } from '../configuration/authorize.configuration.js';
import type { ErrorKind } from '../ui/errors/error-kind.js';
import type { Hint } from '../ui/errors/error.page.js';
import type { FormFields } from './csrf.guard.js';
import { SessionService } from './session.service.js';

export interface Diagnosis {
  readonly kind: ErrorKind;
  readonly values?: Readonly<Record<string, string>>;
  readonly next: string | null;
  readonly hints: readonly Hint[];
  readonly facts: Readonly<Record<string, unknown>>;
  /** Path at which the browser continues without an error page. */
  readonly continuesAt?: string;
}

/** Explains why a form without the right cookie was rejected. Never accepts the form, and links only to AUTH_URL. */
@Injectable()
export class CookieDiagnosisService {
  constructor(
    private readonly configuration: AuthorizeConfiguration,
    private readonly sessions: SessionService,
  ) {}

  async diagnose(kind: ErrorKind, error: OAuthError, request: FastifyRequest): Promise<Diagnosis | null> {
    switch (kind) {
      case 'cookie_missing':
        return this.missingCookie(request);
      case 'form_outdated':
        return this.changedSession(request);
      case 'form_foreign':
        // The error page for a cross-site form does not continue what the other site began.
        return this.isOwnForm(error, request)
          ? this.missingCookie(request)
          : { kind, next: null, hints: [], facts: {} };
      default:
        return null;
    }
  }

  /** Explains why the browser did not send the cookie. The host or scheme of the page may differ from AUTH_URL. */
  private missingCookie(request: FastifyRequest): Diagnosis {
    const expected = this.configuration.AUTH_URL;
    const { opened, otherHost, otherScheme, untrustedProxy } = compareOrigin(request, expected);
    const kind = otherHost
      ? 'cookie_host'
      : otherScheme
        ? expected.startsWith('https:')
          ? 'cookie_http'
          : 'cookie_https'
        : 'cookie_missing';
    const values = { opened, right: expected };
    const hints: Hint[] = [];
    if (kind !== 'cookie_missing') hints.push({ id: 'error.hint.auth_url', values });
    if (kind === 'cookie_http') hints.push({ id: 'error.hint.secure' });
    if (untrustedProxy) hints.push({ id: 'error.hint.proxy' });
    const facts = {
      ...(kind !== 'cookie_missing' && { opened }),
      ...(untrustedProxy && { hint: 'TRUSTED_PROXIES does not include the proxy' }),
    };
    return { kind, values, next: this.startOf(request), hints, facts };
  }

  /** Explains a form that was shown before the user logged in or out in another tab. */
  private async changedSession(request: FastifyRequest): Promise<Diagnosis> {
    // If Redis or PostgreSQL fails, shows the page for a logged-out user, which has the same link.
    const account = await this.sessions.findAccount(request.headers.cookie).catch(() => null);
    const rest = { next: this.startOf(request), hints: [], facts: {} };
    if (!account) return { kind: 'form_outdated', ...rest };
    const diagnosis = { kind: 'logged_in_elsewhere', values: { name: account.user.name }, ...rest } as const;
    const isLogin = request.url.split('?', 1)[0] === ENDPOINTS.login;
    // If the user typed the name of another user, the page names the user of the session.
    return isLogin && isTypedName(request.body, account.user)
      ? { ...diagnosis, continuesAt: afterLogin(rawQuery(request.url)) }
      : diagnosis;
  }

  /** Detects a form of our own page that was opened at an origin other than AUTH_URL. */
  private isOwnForm({ detail: { check } }: OAuthError, { headers, protocol, host }: FastifyRequest): boolean {
    const site = headers['sec-fetch-site'] ?? 'same-origin';
    return (
      check === 'origin_mismatch' && site === 'same-origin' && headers.origin === `${protocol}://${host}`
    );
  }

  /** Returns the URL to start again. Its origin is AUTH_URL, so the URL cannot lead to another site. */
  private startOf({ server, url }: FastifyRequest): string {
    const [path = ''] = url.split('?', 1);
    const query = rawQuery(url);
    // The query of the log-out form is an authorization request.
    const isPage = path !== ENDPOINTS.logout && hasRoute(server, 'GET', path);
    const start = isPage ? withQuery(path, query) : afterLogin(query);
    return this.configuration.AUTH_URL + start;
  }
}

function isTypedName(body: unknown, { email, username }: User): boolean {
  const typed = (body as FormFields | undefined)?.['username'];
  return (
    typeof typed === 'string' &&
    [email, username].some((name) => name.toLowerCase() === typed.trim().toLowerCase())
  );
}

/** Maximum length of an origin in characters, on pages and in log lines. A Host header may have 16 KiB. */
const MAX_ORIGIN = 200;

export interface OriginComparison {
  readonly opened: string;
  readonly otherHost: boolean;
  readonly otherScheme: boolean;
  /** A proxy outside TRUSTED_PROXIES reports another origin. */
  readonly untrustedProxy: boolean;
}

/** Also accepts the origin in headers of untrusted proxies, because no diagnosis is better than a wrong one. */
export function compareOrigin(
  { protocol, host, headers }: Pick<FastifyRequest, 'protocol' | 'host' | 'headers'>,
  authUrl: string,
): OriginComparison {
  const expected = new URL(authUrl);
  const forwardedProtocol = firstOf(headers['x-forwarded-proto']);
  const forwardedHost = firstOf(headers['x-forwarded-host']);
  const untrustedProxy =
    (forwardedProtocol !== undefined && forwardedProtocol !== protocol) ||
    (forwardedHost !== undefined && forwardedHost !== host);
  const otherHost = host !== '' && ![host, forwardedHost].some((name) => isHostOf(name, expected));
  const schemes = [protocol, forwardedProtocol, ...(impliesHttps(headers, expected) ? ['https'] : [])];
  const otherScheme = !schemes.includes(expected.protocol.slice(0, -1));
  const opened = `${protocol}://${host}`.slice(0, MAX_ORIGIN);
  return { opened, otherHost, otherScheme, untrustedProxy };
}

function isHostOf(name: string | undefined, { protocol, host }: URL): boolean {
  return (
    name !== undefined &&
    URL.canParse(`${protocol}//${name}`) &&
    new URL(`${protocol}//${name}`).host === host
  );
}

/** Browsers send Sec-Fetch-Site only to https and loopback hosts (Fetch Metadata, "potentially trustworthy"). */
function impliesHttps({ 'sec-fetch-site': site }: FastifyRequest['headers'], { hostname }: URL): boolean {
  return site !== undefined && !isLoopback(hostname);
}

/** Returns the first value, which comes from the proxy closest to the browser. */
function firstOf(header: string | string[] | undefined): string | undefined {
  return (
    String(header ?? '')
      .split(',', 1)[0]
      ?.trim() || undefined
  );
}
