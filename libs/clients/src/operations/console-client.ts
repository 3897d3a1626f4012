import type { ClientRegistration } from '../client-registration.store.js';
import { type Problem, problem } from '#platform/validation/problem.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    /** `wayBack` is the command that restores the login of operators. */
    confirmConsole: { readonly wayBack: readonly string[] };
  }
}

type Registration = Pick<ClientRegistration, 'redirectUris' | 'scopes' | 'requirePar' | 'jwks' | 'jwksUri'>;

/** Scopes of the authorization request of the console, which `CONSOLE_SCOPE` extends. */
const LOGIN_SCOPES = ['openid', 'profile', 'email'];

/**
 * Returns true for the client by which operators log in to the console.
 * @param consoleUrl `CONSOLE_URL`, empty without a console
 */
export function isConsoleClient(redirectUris: readonly string[], consoleUrl: string): boolean {
  return consoleUrl !== '' && redirectUris.includes(callbackOf(consoleUrl));
}

/** @param wayBack command that restores the login */
export function consoleLockOut(wayBack: readonly string[]): Problem {
  return problem('confirmConsole', [], { wayBack });
}

/** Returns the problem of a change that takes away what the login to the console needs. */
export function consoleChangeProblems(
  clientId: string,
  before: Registration,
  after: Registration,
  consoleUrl: string,
): Problem[] {
  if (!isConsoleClient(before.redirectUris, consoleUrl)) return [];
  const scopes = LOGIN_SCOPES.filter((name) => before.scopes.includes(name) && !after.scopes.includes(name));
  const restoring = [
    ...(isConsoleClient(after.redirectUris, consoleUrl)
      ? []
      : ['--add-redirect-uri', callbackOf(consoleUrl)]),
    ...scopes.flatMap((name) => ['--add-scope', name]),
    ...(after.requirePar && !before.requirePar ? ['--require-par', 'false'] : []),
    ...(after.jwks && !before.jwks ? ['--jwks', 'none'] : []),
    ...(after.jwksUri !== null && before.jwksUri === null ? ['--jwks-uri', 'none'] : []),
  ];
  return restoring.length === 0 ? [] : [consoleLockOut(['client', 'update', clientId, ...restoring])];
}

function callbackOf(consoleUrl: string): string {
  return `${consoleUrl}/login/callback`;
}
