import { IsArray, IsIn, IsOptional, IsString } from 'class-validator';
import type { GrantType } from '#oauth/client-credentials.js';
import { isContact, isLink } from '#oauth/links.js';
import type { ClientType } from '#oauth/oauth-client.js';
import { registrationProblem, type RedirectUriProblem, type RedirectUriRules } from '#oauth/redirect-uri.js';
import { type Problem, problem, reports } from '#platform/validation/problem.js';
import { Rule, Satisfies } from '#platform/validation/validate.js';
import { GivenKeys, isAbsent } from './keys.js';

interface InvalidUri {
  readonly given: string;
  /** `reserved`: it has an origin of this service. */
  readonly reason: RedirectUriProblem | 'repeated' | 'reserved';
}

declare module '#platform/validation/problem.js' {
  interface Problems {
    redirect_uri_missing: null;
    redirect_uri_invalid: InvalidUri;
    post_logout_redirect_uri_invalid: InvalidUri;
    backchannel_logout_uri_invalid: InvalidUri;
    list_too_long: { readonly max: number };
    link_invalid: null;
    contact_invalid: { readonly given: string };
    public_client_with_keys: null;
  }
}

export const MAX_REDIRECT_URIS = 20;
const MAX_CONTACTS = 5;

const NAME = /^(?!\s)[^\p{C}]{1,100}(?<!\s)$/u;
/** Excludes marks, spaces, default-ignorable characters and the blank Braille pattern. */
const VISIBLE = /[^\p{M}\p{Z}\p{C}\p{Default_Ignorable_Code_Point}\u2800]/u;

export function isVisibleName(text: string): boolean {
  return NAME.test(text) && VISIBLE.test(text);
}

export const VISIBLE_NAME = reports('name_invalid', { max: 100, isVisible: true });

/** Fields of a registration that a metadata document can describe. */
export class ClientMetadata extends GivenKeys {
  @Satisfies(isVisibleName, VISIBLE_NAME)
  @IsString()
  name: string;

  @IsIn(['confidential', 'public'])
  @IsString()
  @Rule(({ type, jwks, jwksUri }: ClientMetadata) =>
    type === 'public' && !(isAbsent(jwks) && isAbsent(jwksUri))
      ? [problem('public_client_with_keys', 'type')]
      : [],
  )
  type: ClientType = 'confidential';

  @IsString({ each: true })
  @IsArray()
  @Rule((client: ClientMetadata & Partial<Grants>) => {
    const { redirectUris: uris, deviceGrant = false, grantType } = client;
    if (uris.length > 0) return listProblems('redirectUris', uris, client);
    return deviceGrant || grantType === 'client_credentials'
      ? []
      : [problem('redirect_uri_missing', 'redirectUris')];
  })
  redirectUris: string[] = [];

  /** The rules for redirect URIs apply, because browsers are redirected to these URIs too. */
  @IsString({ each: true })
  @IsArray()
  @Rule((client: ClientMetadata) =>
    listProblems('postLogoutRedirectUris', client.postLogoutRedirectUris, client),
  )
  postLogoutRedirectUris: string[] = [];

  /** A server gets the logout token, even for a public client (section 2.2 of Back-Channel Logout 1.0). */
  @IsString()
  @IsOptional()
  @Rule(({ backchannelLogoutUri: given }: ClientMetadata) => {
    if (given === null) return [];
    const reason = registrationProblem(given, { type: 'confidential' });
    return reason === null
      ? []
      : [problem('backchannel_logout_uri_invalid', 'backchannelLogoutUri', { given, reason })];
  })
  backchannelLogoutUri: string | null = null;

  @Satisfies(isLink, reports('link_invalid'))
  @IsString()
  @IsOptional()
  clientUri: string | null = null;

  @Satisfies(isLink, reports('link_invalid'))
  @IsString()
  @IsOptional()
  policyUri: string | null = null;

  @IsString({ each: true })
  @IsArray()
  @Rule(({ contacts }: ClientMetadata) => [
    ...lengthProblems('contacts', contacts, MAX_CONTACTS),
    ...contacts.flatMap((given, index) =>
      isContact(given) ? [] : [problem('contact_invalid', ['contacts', index], { given })],
    ),
  ])
  contacts: string[] = [];
}

interface Grants {
  readonly deviceGrant: boolean;
  readonly grantType: GrantType;
}

function listProblems(
  field: 'redirectUris' | 'postLogoutRedirectUris',
  uris: readonly string[],
  rules: RedirectUriRules,
): Problem[] {
  const id = field === 'redirectUris' ? 'redirect_uri_invalid' : 'post_logout_redirect_uri_invalid';
  return [
    ...lengthProblems(field, uris, MAX_REDIRECT_URIS),
    ...uris.flatMap((given, index) => {
      const reason = uris.indexOf(given) < index ? 'repeated' : registrationProblem(given, rules);
      return reason === null ? [] : [problem(id, [field, index], { given, reason })];
    }),
  ];
}

export function lengthProblems(field: string, list: readonly string[], max: number): Problem[] {
  return list.length > max ? [problem('list_too_long', field, { max })] : [];
}
