import { ValidateBy } from 'class-validator';
import { parseClaimMapping } from './claims.js';

/** Scope tokens (RFC 6749 3.3), one of which is required. */
export function ScopeVariable(required: string): PropertyDecorator {
  return ValidateBy({
    name: 'scope',
    validator: {
      validate: (value) =>
        typeof value === 'string' &&
        /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(value) &&
        value.split(' ').includes(required),
      defaultMessage: (argument) =>
        `${argument?.property} must be scopes, separated by spaces, one of them ${required}`,
    },
  });
}

export function ClaimsVariable(): PropertyDecorator {
  return ValidateBy({
    name: 'claims',
    validator: {
      validate: (value) => typeof value === 'string' && parseClaimMapping(value) !== null,
      defaultMessage: (argument) =>
        `${argument?.property} must be field=claim, comma-separated, such as username=nickname,timeZone=zoneinfo; the fields are those of /v2/me and locale, and email needs a claim`,
    },
  });
}
