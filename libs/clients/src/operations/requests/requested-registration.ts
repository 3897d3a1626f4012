import { refuseInvalid } from '#platform/validation/administration.error.js';
import type { AdministrationSettings } from '#operations/administration.options.js';
import type { Input } from '#operations/operation-input.js';
import { type Problem, problem } from '#platform/validation/problem.js';
import type { Registration } from '../../registration/registration.js';
import {
  REQUESTED_FIELDS,
  type RegistrationDetails,
  type RequestDetails,
  type RequestedField,
  typeOf,
} from '../../requests/request-content.js';
import type { ClientChanges } from '../client.dto.js';

/** Fields of a registration that an owner gives. The logo is base64, as requests store it; null removes it. */
export type GivenRegistration = Input<Pick<Registration, RequestedField>> & { readonly logo?: string | null };

/** Content of the request of a registration. */
export type RequestContent = GivenRegistration & Input<RegistrationDetails>;

const ADDITIONS = ['addRedirectUris', 'addScopes'] as const;
const LOGO = 'logo';

/** Returns the fields of a registration, or of its change, from the content of a request. */
export function registrationFields(content: object): ClientChanges {
  const names: readonly string[] = [...REQUESTED_FIELDS, ...ADDITIONS];
  const { logo } = content as { readonly logo?: unknown };
  return {
    ...Object.fromEntries(Object.entries(content).filter(([name]) => names.includes(name))),
    ...(typeof logo === 'string' && { logo: Buffer.from(logo, 'base64') }),
    ...(logo === null && { logo }),
  };
}

/** Returns the registration that a request describes, of unchecked values. */
export function requestedRegistration(
  content: object,
  { application }: Pick<RegistrationDetails, 'application'>,
): Input<Registration> {
  const { logo, ...fields } = registrationFields(content);
  return { ...fields, ...typeOf(application), ...(logo && { logo }) };
}

/** Returns the change of an application in testing, or of a live one, to what its request describes. */
export function requestedChange(content: object): ClientChanges {
  const { application } = content as Partial<RegistrationDetails>;
  if (application === undefined) return registrationFields(content);
  return { logo: null, ...registrationFields(content), deviceGrant: typeOf(application).deviceGrant };
}

/** Returns the fields that only reviewers read. */
export function detailsOf(content: object): object {
  const names: readonly string[] = [...REQUESTED_FIELDS, ...ADDITIONS, LOGO];
  return Object.fromEntries(Object.entries(content).filter(([name]) => !names.includes(name)));
}

/** Rejects fields that only operators set. @throws AdministrationError */
export function refuseOthers(content: object, ...others: readonly (keyof RegistrationDetails)[]): void {
  const names: readonly string[] = [...REQUESTED_FIELDS, LOGO, ...others];
  refuseInvalid(
    Object.keys(content)
      .filter((name) => !names.includes(name))
      .map((name) => problem('unknown_field', name)),
  );
}

/** Each requested scope needs a reason. */
export function missingReasons(scopes: unknown, reasons: RequestDetails['reasons']): Problem[] {
  if (!Array.isArray(scopes)) return [];
  return scopes
    .filter((scope): scope is string => typeof scope === 'string' && !Object.hasOwn(reasons, scope))
    .map((scope) => problem('reason_missing', ['reasons', scope], { scope }));
}

/**
 * Rejects redirect URIs of this service: an application with such a URI would get the codes of operators or owners.
 * @param uris of any type
 */
export function reservedUris(
  uris: unknown,
  { authUrl, baseUrl, apiUrl, consoleUrl, developersUrl }: AdministrationSettings,
): Problem[] {
  const origins = [authUrl, baseUrl, apiUrl, consoleUrl, developersUrl];
  return (Array.isArray(uris) ? uris : []).flatMap((given: unknown, index) =>
    typeof given === 'string' && origins.includes(URL.parse(given)?.origin)
      ? [problem('redirect_uri_invalid', ['redirectUris', index], { given, reason: 'reserved' })]
      : [],
  );
}
