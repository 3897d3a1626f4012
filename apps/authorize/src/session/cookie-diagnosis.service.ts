import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { OAuthError } from '#oauth/oauth-error.js';
import { hasRoute } from '#platform/http/refused-request.js';
import { afterLogin, rawQuery, withQuery } from '../addresses.js';
import { AuthorizeConfiguration } from '../authorize.configuration.js';
import type { ErrorKind } from '../ui/errors/error-kind.js';
import type { Hint } from '../ui/errors/error.page.js';
import { SessionService } from './session.service.js';

/** Why a form was refused, as far as its request shows. */
export interface Diagnosis {
  readonly kind: ErrorKind;
  readonly values?: Readonly<Record<string, string>>;
  /** Where the user starts again. */
  readonly next: string | null;
  readonly hints: readonly Hint[];
  /** For the log. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/**
 * Finds out why a form came without its cookie, or with another one. It decides nothing: the form is already refused.
 * The diagnosis only changes the error page and its link, which always leads to AUTH_URL.
 */
@Injectable()
export class CookieDiagnosis {
  constructor(
    private readonly configuration: AuthorizeConfiguration,
    private readonly sessions: SessionService,
  ) {}

  /** @returns null for errors that cookies do not cause */
  async diagnose(kind: ErrorKind, error: OAuthError, request: FastifyRequest): Promise<Diagnosis | null> {
    switch (kind) {
      case 'cookie_missing':
        return this.missingCookie(request);
      case 'form_outdated':
        return this.changedSession(request);
      case 'form_foreign':
        // The page for a form of another site has no link, not even to a question.
        return this.isOwnForm(error, request)
          ? this.missingCookie(request)
          : { kind, next: null, hints: [], facts: {} };
      default:
        return null;
    }
  }

  /** The browser did not send the cookie: does it use another address, or another scheme, than AUTH_URL? */
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
      ...(untrustedProxy && { hint: 'TRUSTED_PROXIES does not cover the proxy' }),
    };
    return { kind, values, next: this.startOf(request), hints, facts };
  }

  /** The cookie is not the one that the page was made for: somebody has logged in or out since, in another tab. */
  private async changedSession(request: FastifyRequest): Promise<Diagnosis> {
    // If Redis fails, the page is the one for a user who is not logged in; its link is the same.
    const account = await this.sessions.findAccount(request.headers.cookie).catch(() => null);
    const rest = { next: this.startOf(request), hints: [], facts: {} };
    return account
      ? { kind: 'logged_in_elsewhere', values: { name: account.user.name }, ...rest }
      : { kind: 'form_outdated', ...rest };
  }

  /** Whether our own page sent the form, under an address of this app other than AUTH_URL. */
  private isOwnForm({ detail: { check } }: OAuthError, { headers, protocol, host }: FastifyRequest): boolean {
    const site = headers['sec-fetch-site'] ?? 'same-origin';
    return check === 'origin' && site === 'same-origin' && headers.origin === `${protocol}://${host}`;
  }

  /** The page with the form, at AUTH_URL. Its path answers GET, so the address cannot lead to another site. */
  private startOf({ server, url }: FastifyRequest): string {
    const [path = ''] = url.split('?', 1);
    const query = rawQuery(url);
    const start = hasRoute(server, 'GET', path) ? withQuery(path, query) : afterLogin(query);
    return this.configuration.AUTH_URL + start;
  }
}

/** Bounds what a page and a log line show: a Host header may have 16 KiB, a host name has 253 characters at most. */
const MAX_ORIGIN = 200;

/** The origin of a request, compared with AUTH_URL. */
export interface OriginComparison {
  /** The origin that the browser seems to have opened, shortened. */
  readonly opened: string;
  /** Whether its host or port differs. */
  readonly otherHost: boolean;
  /** Whether its scheme differs. */
  readonly otherScheme: boolean;
  /** Whether a proxy names another origin, and TRUSTED_PROXIES does not include that proxy. */
  readonly untrustedProxy: boolean;
}

/**
 * Compares a request's origin with AUTH_URL. Fastify's `protocol` and `host` honour X-Forwarded-… of trusted proxies
 * only. The headers of other proxies count here as far as they excuse a difference: no diagnosis is better than a wrong one.
 */
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

/** In any spelling: in upper case, or with the default port. */
function isHostOf(name: string | undefined, { protocol, host }: URL): boolean {
  return (
    name !== undefined &&
    URL.canParse(`${protocol}//${name}`) &&
    new URL(`${protocol}//${name}`).host === host
  );
}

/** Browsers send Sec-Fetch-Site to https and to loopback hosts only (Fetch Metadata, "potentially trustworthy"). */
function impliesHttps({ 'sec-fetch-site': site }: FastifyRequest['headers'], { hostname }: URL): boolean {
  return site !== undefined && !['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}

/** The value of the proxy next to the browser. */
function firstOf(header: string | string[] | undefined): string | undefined {
  return (
    String(header ?? '')
      .split(',', 1)[0]
      ?.trim() || undefined
  );
}
