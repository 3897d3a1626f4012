import {
  ExternalLoginError,
  FailedCheckError,
  type LoginReason,
} from '../external-login/external-login.error.js';
import { DependencyUnavailableError } from '#platform/errors.js';

interface LoginFailure {
  readonly reason: LoginReason;
  readonly detail: Readonly<Record<string, unknown>>;
}

const ERROR_CODE = /^[a-z_]{1,50}$/;

export function externalLoginError(error: unknown, query: string): unknown {
  const failure = loginFailure(error);
  return failure ? new ExternalLoginError(failure.reason, query, failure) : error;
}

/** Reads only codes, claim names and safe messages. Other messages and causes may contain tokens. */
function loginFailure(error: unknown): LoginFailure | null {
  const chain = chainOf(error);
  if (chain.some((failure) => failure instanceof DependencyUnavailableError))
    return unavailable('no response');
  const [first] = chain;
  if (first === undefined) return null;
  if (first instanceof FailedCheckError) return invalid(first.failed, first.message);
  const isProviderError = first.name === 'AuthorizationResponseError' || first.name === 'ResponseBodyError';
  if (isProviderError) return providerError(first.name, textOf(first, 'error'));
  const code = textOf(first, 'code');
  if (code === null && first.name !== 'ClientError') return null;
  const cause = chain.map((failure) => objectOf(failure.cause)).find((value) => value !== null);
  const claim = [cause?.['claim'], cause?.['attribute'], cause?.['parameter']].find(isName);
  return invalid(claim ?? code ?? 'response', reasonOf(chain));
}

function invalid(failed: string, reason: string): LoginFailure {
  const problem = 'the response of the OpenID provider is not valid';
  return { reason: { id: 'login_response_invalid', problem }, detail: { failed, reason } };
}

/** Handles error responses (OpenID Connect Core 3.1.2.6, RFC 6749 4.1.2.1 and 5.2). */
function providerError(name: string, error: string | null): LoginFailure {
  const code = error !== null && ERROR_CODE.test(error) ? error : 'malformed';
  if (name === 'AuthorizationResponseError') {
    if (code === 'access_denied') return { reason: 'login_cancelled', detail: {} };
    if (code === 'server_error' || code === 'temporarily_unavailable') return unavailable(code);
  }
  return {
    reason: { id: 'login_response_invalid', problem: 'the OpenID provider rejected the login' },
    detail: {
      failed: name === 'ResponseBodyError' ? 'token_request' : 'authorization',
      provider_error: code,
    },
  };
}

function unavailable(failed: string): LoginFailure {
  return { reason: 'login_unavailable', detail: { failed } };
}

/** Returns the innermost message of openid-client's libraries, because a JSON parser's message may quote a token. */
function reasonOf(chain: readonly Error[]): string {
  return chain.findLast((failure) => textOf(failure, 'code')?.startsWith('OAUTH_'))?.message ?? '';
}

function chainOf(error: unknown): Error[] {
  const chain: Error[] = [];
  for (let failure = error; failure instanceof Error && chain.length < 5; failure = failure.cause)
    chain.push(failure);
  return chain;
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> | null {
  return typeof value === 'object' && value !== null && !(value instanceof Error)
    ? (value as Readonly<Record<string, unknown>>)
    : null;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && ERROR_CODE.test(value);
}

function textOf(error: Error, property: string): string | null {
  const value: unknown = (error as unknown as Record<string, unknown>)[property];
  return typeof value === 'string' ? value : null;
}
