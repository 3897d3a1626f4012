/** Ids of states of a registration that answer a refused request without a change, by the values of their texts. */
export interface Reviews {
  registration_unknown: null;
  not_registered: null;
  fapi_requires_push: null;
  service_requires_push: null;
  state_optional: null;
  state_required: null;
  redirect_uri_missing: null;
  address_missing: null;
  address_registered: null;
  address_not_registrable: { readonly problem: string };
  too_many_redirect_uris: { readonly max: number };
  too_many_addresses: { readonly max: number };
  scopes_registered: null;
  scopes_of_api: { readonly scopes: readonly string[] };
  scopes_undeclared: { readonly scopes: readonly string[] };
  enabled: null;
}

const TEXTS: { readonly [Id in keyof Reviews]: (values: Reviews[Id]) => string } = {
  registration_unknown: () =>
    'The registration of the application is unknown here, so that no change can be suggested.',
  not_registered: () => 'The application is not registered (any longer), and cannot be changed.',
  fapi_requires_push: () =>
    'The application is registered for FAPI 2.0, which requires this (5.3.2.2): nothing to change here.',
  service_requires_push: () => 'The service requires this of every application: `REQUIRE_PAR`.',
  state_optional: () => 'It is optional for the application now: repeat the request.',
  state_required: () => 'The application must send a `state` already.',
  redirect_uri_missing: () => 'The request has no redirect_uri that could be registered.',
  address_missing: () => 'The request has no address that could be registered.',
  address_registered: () => 'It is registered now: repeat the request.',
  address_not_registrable: ({ problem }) => `It cannot be registered: it ${problem}.`,
  too_many_redirect_uris: ({ max }) =>
    `The application has ${max} redirect URIs, which is the limit: remove one before you add another.`,
  too_many_addresses: ({ max }) => `The application has ${max} such addresses, which is the limit.`,
  scopes_registered: () =>
    'The application is registered for all of them now. The user has to allow it again.',
  scopes_of_api: ({ scopes }) => `It may have only ${scopes.join(', ')}.`,
  scopes_undeclared: ({ scopes }) =>
    `No scope can be added: ${scopes.join(' ')} is not declared in \`SCOPES_FILE\`.`,
  enabled: () => 'It is enabled now: repeat the request.',
};

export interface Review<Id extends keyof Reviews = keyof Reviews> {
  readonly review: Id;
  readonly values: Reviews[Id];
}

export function describeReview({ review, values }: Review): string {
  return (TEXTS[review] as (given: Review['values']) => string)(values);
}
