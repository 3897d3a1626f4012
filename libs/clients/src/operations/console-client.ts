import type { ClientRegistration } from '../client-registration.store.js';
import { type Problem, problem } from '#platform/validation/problem.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    /** The change takes from the client what the login of operators needs. */
    confirmConsole: { readonly clientId: string; readonly lost: 'client' | 'enabled' | LoginLoss };
  }
}

interface LoginLoss {
  readonly redirectUris: readonly string[];
  readonly scopes: readonly string[];
  /** Fields whose new value the console does not support. */
  readonly unsupported: readonly ('requirePar' | 'jwks' | 'jwksUri')[];
}

type Registration = Pick<ClientRegistration, 'redirectUris' | 'scopes' | 'requirePar' | 'jwks' | 'jwksUri'>;

/** Scopes of the authorization request of the console, which `CONSOLE_SCOPE` extends. */
const LOGIN_SCOPES = ['openid', 'profile', 'email'];

const UNSUPPORTED = ['requirePar', 'jwks', 'jwksUri'] as const;

/**
 * Returns true for the client by which operators log in to the console.
 * @param consoleUrl `CONSOLE_URL`, empty without a console
 */
export function isConsoleClient(redirectUris: readonly string[], consoleUrl: string): boolean {
  return consoleUrl !== '' && redirectUris.includes(callbackOf(consoleUrl));
}

/** Returns the problem of a change that takes away what the login to the console needs. */
export function consoleChangeProblems(
  clientId: string,
  before: Registration,
  after: Registration,
  consoleUrl: string,
): Problem[] {
  if (!isConsoleClient(before.redirectUris, consoleUrl)) return [];
  const lost = {
    redirectUris: isConsoleClient(after.redirectUris, consoleUrl) ? [] : [callbackOf(consoleUrl)],
    scopes: LOGIN_SCOPES.filter((name) => before.scopes.includes(name) && !after.scopes.includes(name)),
    unsupported: UNSUPPORTED.filter((field) => after[field] && !before[field]),
  };
  return Object.values(lost).some(({ length }) => length > 0)
    ? [problem('confirmConsole', [], { clientId, lost })]
    : [];
}

function callbackOf(consoleUrl: string): string {
  return `${consoleUrl}/login/callback`;
}
