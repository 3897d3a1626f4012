/** Ids of findings about a request of an application owner, by the values of their texts. */
interface Findings {
  /** Hosts of redirect URIs that are not the website's host or a host below it. */
  redirect_host_elsewhere: { readonly host: string; readonly website: string };
  website_missing: null;
  policy_missing: null;
  policy_host_elsewhere: { readonly host: string; readonly website: string };
  logo_missing: null;
  /** The name contains the product's, or looks like it does. */
  name_like_product: { readonly product: string };
  name_like_application: { readonly clientId: string; readonly name: string };
  /** The name mixes letters of several scripts. */
  name_mixes_scripts: { readonly scripts: readonly string[] };
  scope_without_reason: { readonly scope: string };
  /** The scope has left the scope file since the request. */
  scope_not_offered: { readonly scope: string };
  reason_repeated: { readonly scopes: readonly string[] };
}

const TEXTS: { readonly [Id in keyof Findings]: (values: Findings[Id]) => string } = {
  redirect_host_elsewhere: ({ host, website }) =>
    `A redirect URI is at ${host}, which does not belong to the website ${website}. Ask the owner who runs that host.`,
  website_missing: () =>
    'The request has no website, so the hosts of the redirect URIs cannot be compared with it.',
  policy_missing: () => 'The request has no privacy policy.',
  policy_host_elsewhere: ({ host, website }) =>
    `The privacy policy is at ${host}, which does not belong to the website ${website}.`,
  logo_missing: () => 'The request has no logo.',
  name_like_product: ({ product }) =>
    `The name contains or resembles ${product}. Users may take the application for a part of the product.`,
  name_like_application: ({ clientId, name }) =>
    `The name looks like the name of another application: ${name} (${clientId}).`,
  name_mixes_scripts: ({ scripts }) =>
    `The name mixes letters of several scripts, which may imitate another name: ${scripts.join(', ')}.`,
  scope_without_reason: ({ scope }) => `The owner gave no reason for the scope ${scope}.`,
  scope_not_offered: ({ scope }) =>
    `The scope ${scope} is no longer offered, so the request cannot be approved. Ask the owner to remove it, or reject the request.`,
  reason_repeated: ({ scopes }) => `The owner gave the same reason for several scopes: ${scopes.join(', ')}.`,
};

export type RequestFinding = {
  readonly [Id in keyof Findings]: { readonly id: Id; readonly values: Findings[Id] };
}[keyof Findings];

/** Returns plain text, which contains values of the request. */
export function describeFinding({ id, values }: RequestFinding): string {
  return (TEXTS[id] as (given: RequestFinding['values']) => string)(values);
}
