import { SigningKeys } from '#oauth/openid/signing-keys.js';
import { ParsedBy } from '#platform/configuration/variables.js';

/** ID_TOKEN_KEYS. @param check throws for keys that the app cannot use */
export function IsIdTokenKeys(check: (keys: SigningKeys) => void = () => undefined): PropertyDecorator {
  return ParsedBy(
    (text) => check(SigningKeys.parse(text)),
    'PEM keys, a JWK or a JWK Set of which at least one key is RSA',
  );
}
