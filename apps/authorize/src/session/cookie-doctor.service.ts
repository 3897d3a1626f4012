import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { OAuthError } from '#oauth/oauth-error.js';
import { AuthorizeConfiguration } from '../authorize.configuration.js';
import type { Hint } from '../ui/errors/developer-details.js';
import type { ErrorKind } from '../ui/errors/error-kind.js';
import { afterLogin } from '../login/login-address.js';
import { rawQuery } from '../authorize/raw-query.js';
import { CurrentAccountService } from './current-account.service.js';
import { arrivalOf } from './arrival.js';

/** Why a form of ours was refused, as far as its request tells. */
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
 * Finds out why a form came without its cookie, or with one that does not fit it. Judges nothing: the form is refused
 * already, and whatever it says here only changes the words of the refusal and the way back, which is always to this
 * service's own address.
 */
@Injectable()
export class CookieDoctor {
  constructor(
    private readonly configuration: AuthorizeConfiguration,
    private readonly accounts: CurrentAccountService,
  ) {}

  /** @returns null for errors that have nothing to do with cookies */
  async examine(kind: ErrorKind, error: OAuthError, request: FastifyRequest): Promise<Diagnosis | null> {
    switch (kind) {
      case 'cookie_missing':
        return this.lost(request);
      case 'form_outdated':
        return this.otherTab(request);
      case 'form_foreign':
        // What another site made the browser send has no way on: not even to a page that asks.
        return this.cameFromItself(error, request)
          ? this.lost(request)
          : { kind, next: null, hints: [], facts: {} };
      default:
        return null;
    }
  }

  /** The cookie did not come back: is this address, or this way to it, one that it does not belong to? */
  private lost(request: FastifyRequest): Diagnosis {
    const right = this.configuration.AUTH_URL;
    const { opened, otherHost, otherScheme, uncoveredProxy } = arrivalOf(request, right);
    const kind = otherHost
      ? 'cookie_host'
      : otherScheme
        ? right.startsWith('https:')
          ? 'cookie_http'
          : 'cookie_https'
        : 'cookie_missing';
    const values = { opened, right };
    const hints: Hint[] = [];
    if (kind !== 'cookie_missing') hints.push({ id: 'error.hint.auth_url', values });
    if (kind === 'cookie_http') hints.push({ id: 'error.hint.secure' });
    if (uncoveredProxy) hints.push({ id: 'error.hint.proxy' });
    const facts = {
      ...(kind !== 'cookie_missing' && { opened }),
      ...(uncoveredProxy && { hint: 'TRUSTED_PROXIES does not cover the proxy' }),
    };
    return { kind, values, next: this.startOf(request), hints, facts };
  }

  /** The cookie is there, but the page was made for another one: somebody logged in or out since. */
  private async otherTab(request: FastifyRequest): Promise<Diagnosis> {
    // Who cannot be asked is taken for nobody: the way is the same.
    const account = await this.accounts.find(request.headers.cookie).catch(() => null);
    const rest = { next: this.startOf(request), hints: [], facts: {} };
    return account
      ? { kind: 'logged_in_elsewhere', values: { name: account.user.name }, ...rest }
      : { kind: 'form_outdated', ...rest };
  }

  /** A form that our own page sent from an address of ours that is not AUTH_URL. */
  private cameFromItself(
    { detail: { check } }: OAuthError,
    { headers, protocol, host }: FastifyRequest,
  ): boolean {
    const site = headers['sec-fetch-site'] ?? 'same-origin';
    return check === 'origin' && site === 'same-origin' && headers.origin === `${protocol}://${host}`;
  }

  /**
   * The page that the form was on, at AUTH_URL. The path is one that answers GET, and the query goes along as every
   * page takes it; neither can lead away from here.
   */
  private startOf({ server, url }: FastifyRequest): string {
    const [path = ''] = url.split('?', 1);
    const query = rawQuery(url);
    const start = server.hasRoute({ method: 'GET', url: path })
      ? `${path}${query === '' ? '' : `?${query}`}`
      : afterLogin(query);
    return this.configuration.AUTH_URL + start;
  }
}
