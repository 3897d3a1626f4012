import { IsIn, IsObject, IsOptional, IsString } from 'class-validator';
import { isLink } from '#oauth/links.js';
import { problem, reports } from '#platform/validation/problem.js';
import { Rule, Satisfies } from '#platform/validation/validate.js';
import type { Registration } from '../registration/registration.js';

export const APPLICATION_KINDS = ['server', 'browser', 'native', 'device'] as const;
export type ApplicationKind = (typeof APPLICATION_KINDS)[number];

declare module '#platform/validation/problem.js' {
  interface Problems {
    request_text_invalid: { readonly max: number };
    reason_missing: { readonly scope: string };
    reason_invalid: { readonly scope: string; readonly max: number };
  }
}

const MAX_TEXT = 2_000;
const MAX_REASON = 500;

/** Lines of text, which terminals, mails and pages can show. */
const LINES = /^[^\p{Cc}\p{Cs}\p{Cn}\p{Bidi_Control}]*(?:\r?\n[^\p{Cc}\p{Cs}\p{Cn}\p{Bidi_Control}]*)*$/u;

export function isPlainText(text: string, max = MAX_TEXT): boolean {
  return text.length <= max && LINES.test(text) && /\p{L}/u.test(text);
}

export const PLAIN_TEXT = reports('request_text_invalid', { max: MAX_TEXT });

/** Fields of the registration that owners request and change. */
export const REQUESTED_FIELDS = [
  'name',
  'clientUri',
  'policyUri',
  'contacts',
  'redirectUris',
  'postLogoutRedirectUris',
  'backchannelLogoutUri',
  'scopes',
  'optionalScopes',
  'jwks',
  'jwksUri',
] as const satisfies readonly (keyof Registration)[];

export type RequestedField = (typeof REQUESTED_FIELDS)[number];

/** Details of a request that only reviewers read. */
export class RequestDetails {
  @Satisfies((text) => isPlainText(text), PLAIN_TEXT)
  @IsString()
  purpose: string;

  @Satisfies(isLink, reports('link_invalid'))
  @IsString()
  @IsOptional()
  termsUri: string | null = null;

  /** Reasons by scope. */
  @IsObject()
  @Rule(({ reasons }: RequestDetails) =>
    Object.entries(reasons).flatMap(([scope, reason]) =>
      typeof reason === 'string' && isPlainText(reason, MAX_REASON)
        ? []
        : [problem('reason_invalid', ['reasons', scope], { scope, max: MAX_REASON })],
    ),
  )
  reasons: Readonly<Record<string, string>> = {};
}

/** Details of a registration, which also has the kind of application: the kind decides the type of the client. */
export class RegistrationDetails extends RequestDetails {
  @IsIn(APPLICATION_KINDS)
  @IsString()
  application: ApplicationKind = 'server';
}

/** Returns the fields of the registration that the kind of application decides. */
export function typeOf(application: ApplicationKind): Pick<Registration, 'type' | 'deviceGrant'> {
  return {
    type: application === 'server' ? 'confidential' : 'public',
    deviceGrant: application === 'device',
  };
}
