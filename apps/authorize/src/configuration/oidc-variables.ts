import { MustBe } from '#platform/configuration/variables.js';
import { type ClaimMapping, isProfileField, STANDARD_CLAIMS } from './profile-claims.js';

/** Accepts scope tokens (RFC 6749 3.3). @param required token that must be among them */
export function IsScope(required: string): PropertyDecorator {
  return MustBe(
    `scopes, separated by spaces, one of them ${required}`,
    (value) =>
      /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(value) &&
      value.split(' ').includes(required),
  );
}

export function IsClaimMapping(): PropertyDecorator {
  return MustBe(
    'field=claim, comma-separated, such as username=nickname,timeZone=zoneinfo; the fields are those of /v2/me and locale, and email needs a claim',
    (value) => readClaimMapping(value) !== null,
  );
}

/** Reads `field=claim,field=claim`. An empty claim disables the field. @returns null if invalid or without `email` */
export function readClaimMapping(text: string): ClaimMapping | null {
  const mapping: { -readonly [Field in keyof ClaimMapping]: string | undefined } = { ...STANDARD_CLAIMS };
  for (const part of text.split(',').filter((entry) => entry.trim() !== '')) {
    const [, field = '', claim = ''] = /^([^=]*)=(.*)$/.exec(part.trim()) ?? [];
    if (!isProfileField(field)) return null;
    if (claim === '') delete mapping[field];
    else mapping[field] = claim;
  }
  return mapping.email === undefined ? null : (mapping as ClaimMapping);
}
