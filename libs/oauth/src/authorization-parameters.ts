/** Values of `prompt` (OpenID Connect Core 3.1.2.1), in the order of the metadata. */
export const PROMPTS = ['none', 'login', 'consent', 'select_account'] as const;

export type Prompt = (typeof PROMPTS)[number];

/** Multiple Response Type Encoding Practices 2.1, and Form Post Response Mode. The first mode is the default. */
export const RESPONSE_MODES = ['query', 'form_post'] as const;

export type ResponseMode = (typeof RESPONSE_MODES)[number];

export interface AuthorizationParameter {
  readonly description: string;
  readonly required?: boolean;
  readonly repeatable?: boolean;
  readonly values?: readonly string[];
}

export const AUTHORIZATION_PARAMETERS = {
  client_id: { required: true, description: 'Identifier of the client.' },
  redirect_uri: {
    description:
      'Must equal a registered redirect URI. Loopback URIs of public clients may have any port (RFC 8252 7.3). Required without `request_uri`.',
  },
  state: {
    description:
      'Random value, returned unchanged (RFC 6749 10.12). Required without `request_uri`, unless the operator has made it optional for the client.',
  },
  response_type: { values: ['code'], description: 'Default: `code`.' },
  response_mode: {
    values: RESPONSE_MODES,
    description: 'Default: `query`. `form_post` needs an http or https redirect URI.',
  },
  scope: { description: 'Scopes, space-separated. Default: the default scopes.' },
  code_challenge: {
    description:
      'S256 challenge (RFC 7636). Required for public clients, and for clients whose `state` is optional.',
  },
  code_challenge_method: { values: ['S256'], description: 'Required with `code_challenge`.' },
  prompt: {
    description: `Pages to show, space-separated: ${PROMPTS.join(', ')} (OpenID Connect Core 3.1.2.1).`,
  },
  login_hint: { description: 'Prefills the login form.' },
  max_age: {
    description: 'Maximum seconds since the last login; after that, the user must log in again.',
  },
  ui_locales: { description: 'Languages of the pages, space-separated, in order of preference.' },
  nonce: { description: 'Returned in the ID token (OpenID Connect Core 3.1.2.1).' },
  id_token_hint: {
    description: 'ID token of the expected user: another one must log in (OpenID Connect Core 3.1.2.1).',
  },
  claims: {
    description:
      'Individual claims, as JSON (OpenID Connect Core 5.5). Needs a registered scope that grants them.',
  },
  resource: {
    repeatable: true,
    description:
      'URL of an API that the tokens are valid for (RFC 8707). Default: every API. May be repeated.',
  },
  dpop_jkt: {
    description: 'Thumbprint of the key that must sign the DPoP proof of the code exchange (RFC 9449 10).',
  },
  request_uri: {
    description:
      'Reference to a pushed request (RFC 9126). All other parameters except `client_id` are ignored.',
  },
} as const satisfies Readonly<Record<string, AuthorizationParameter>>;
