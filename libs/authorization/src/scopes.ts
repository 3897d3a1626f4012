/** What an application can ask for, and what the consent page says of it. */
export const SCOPES: ReadonlyMap<string, string> = new Map([
  [
    'profile:read',
    'See your profile: your name, user name, e-mail address, picture, time zone and calendar preferences',
  ],
]);

/** RFC 6749 3.3: without a scope parameter the server "MUST either process the request using a pre-defined default value". */
export const DEFAULT_SCOPE = 'profile:read';
