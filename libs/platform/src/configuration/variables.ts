import { compile } from '@fastify/proxy-addr';
import { applyDecorators } from '@nestjs/common';
import { IsIn, IsInt, Max, Min, ValidateBy, ValidateIf } from 'class-validator';
import { serverUrls } from './server-urls.js';

export function UrlsVariable(...protocols: string[]): PropertyDecorator {
  const schemes = protocols.map((protocol) => `${protocol}://…`).join(' or ');
  return ValidateBy({
    name: 'urls',
    validator: {
      validate: (value) =>
        typeof value === 'string' && value.split(',').every((url) => isUrl(url.trim(), protocols)),
      defaultMessage: (argument) =>
        `${argument?.property} must be one or more URLs, ${schemes}, comma-separated`,
    },
  });
}

export function AuditUrlVariable(): PropertyDecorator {
  return applyDecorators(
    ValidateIf((_, value) => value !== ''),
    UrlsVariable('nats', 'tls'),
  );
}

function isUrl(value: string, protocols: readonly string[]): boolean {
  return URL.canParse(value) && protocols.includes(new URL(value).protocol.slice(0, -1));
}

/**
 * Public origin, which must be https in production, because it receives codes, tokens and secrets (RFC 6749 3.1, 3.2;
 * RFC 8414 2).
 */
export function OriginVariable({ optional = false } = {}): PropertyDecorator {
  return ValidateBy({
    name: 'origin',
    validator: {
      validate: (value, argument) =>
        (optional && value === '') ||
        (typeof value === 'string' &&
          isUrl(value, webSchemes(argument?.object)) &&
          new URL(value).origin === value),
      defaultMessage: (argument) => {
        const scheme = isInProduction(argument?.object) ? 'https' : 'http(s)';
        const when = isInProduction(argument?.object) ? ' (NODE_ENV is production)' : '';
        const name = argument?.property ?? '';
        const host = name.replace(/_URL$/, '').toLowerCase();
        return `${name} must be an ${scheme} origin with no path and no trailing slash, such as https://${host}.example.com${when}`;
      },
    },
  });
}

/** Issuer of an OpenID provider; may be empty. Section 2 of OpenID Connect Core: https, without query and fragment. */
export function IssuerVariable(): PropertyDecorator {
  return ValidateBy({
    name: 'issuer',
    validator: {
      validate: (value, argument) =>
        value === '' ||
        (typeof value === 'string' &&
          value.length <= 255 &&
          isUrl(value, webSchemes(argument?.object)) &&
          !/[?#@\s]/.test(value)),
      defaultMessage: (argument) =>
        `${argument?.property} must be the issuer of an OpenID provider: an https URL of at most 255 characters without query and fragment, such as https://login.example.com`,
    },
  });
}

/** URL; may be empty. Must be https with NODE_ENV=production. */
export function UrlVariable(): PropertyDecorator {
  return ValidateBy({
    name: 'address',
    validator: {
      validate: (value, argument) =>
        value === '' ||
        (typeof value === 'string' && isUrl(value, webSchemes(argument?.object)) && !/[#@\s]/.test(value)),
      defaultMessage: (argument) =>
        `${argument?.property} must be an https URL without fragment and password, such as https://app.example.com/login`,
    },
  });
}

/** Any number of comma-separated origins without characters that are special in a Content-Security-Policy. */
export function OriginsVariable(): PropertyDecorator {
  const isOrigin = (value: string, schemes: readonly string[]) =>
    isUrl(value, schemes) && new URL(value).origin === value && /^[a-z]+:\/\/[a-z0-9.-]+(:\d+)?$/.test(value);
  return ValidateBy({
    name: 'origins',
    validator: {
      validate: (value, argument) =>
        typeof value === 'string' &&
        listOf(value).every((origin) => isOrigin(origin, webSchemes(argument?.object))),
      defaultMessage: (argument) =>
        `${argument?.property} must be https origins with no path and no trailing slash, comma-separated, such as https://pictures.example.com`,
    },
  });
}

/** URL of a page that other pages link to; may be empty. Must be https with NODE_ENV=production. */
export function LinkVariable(): PropertyDecorator {
  return ValidateBy({
    name: 'link',
    validator: {
      validate: (value, argument) =>
        value === '' || (typeof value === 'string' && isUrl(value, webSchemes(argument?.object))),
      defaultMessage: (argument) =>
        `${argument?.property} must be an https URL, such as https://www.example.com/page`,
    },
  });
}

export function NameVariable(): PropertyDecorator {
  return ValidateBy({
    name: 'name',
    validator: {
      validate: (value) => typeof value === 'string' && /^(?!\s)[^\p{C}]{1,60}(?<!\s)$/u.test(value),
      defaultMessage: (argument) =>
        `${argument?.property} must be 1 to 60 printable characters with no space at either end`,
    },
  });
}

export function listOf(value: string): string[] {
  return value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function webSchemes(configuration: object | undefined): string[] {
  return isInProduction(configuration) ? ['https'] : ['https', 'http'];
}

function isInProduction(configuration: object | undefined): boolean {
  return (
    configuration !== undefined && 'NODE_ENV' in configuration && configuration.NODE_ENV === 'production'
  );
}

/** Whole number within bounds. The field's default must be a number, so that `loadConfiguration` converts the text. */
export function NumberVariable(least: number, most: number): PropertyDecorator {
  const message = `$property must be a whole number from ${least} to ${most}`;
  return applyDecorators(IsInt({ message }), Min(least, { message }), Max(most, { message }));
}

export function ChoiceVariable(...choices: string[]): PropertyDecorator {
  return IsIn(choices, { message: `$property must be one of ${choices.join(', ')}` });
}

/** Base64url keys of 32 bytes, comma-separated, the signing key first (see KeyRing). */
export function KeysVariable(): PropertyDecorator {
  const keys = (value: unknown) =>
    typeof value === 'string' ? value.split(',').map((key) => key.trim()) : [];
  return ValidateBy({
    name: 'keys',
    validator: {
      validate: (value) =>
        keys(value).length > 0 &&
        keys(value).every((key) => /^[A-Za-z0-9_-]{43}$/.test(key)) &&
        new Set(keys(value)).size === keys(value).length,
      defaultMessage: (argument) =>
        `${argument?.property} must be one or more different keys of 32 random bytes in base64url, comma-separated (node -p "crypto.randomBytes(32).toString('base64url')")`,
    },
  });
}

/** Text that `parse` accepts. The error of `parse` must not repeat the text, which may be a secret. */
export function ParsedVariable(parse: (text: string) => unknown, rule: string): PropertyDecorator {
  const problem = (value: unknown): string | null => {
    try {
      parse(String(value));
      return null;
    } catch (error) {
      return (error as Error).message;
    }
  };
  return ValidateBy({
    name: 'parsed',
    validator: {
      validate: (value) => problem(value) === null,
      defaultMessage: (argument) => `${argument?.property} must be ${rule}: ${problem(argument?.value)}`,
    },
  });
}

/** Comma-separated IP addresses, CIDR ranges, `loopback`, `linklocal` or `uniquelocal`. */
export function ProxiesVariable(): PropertyDecorator {
  return ValidateBy({
    name: 'proxies',
    validator: {
      validate: (value) => typeof value === 'string' && areRanges(listOf(value)),
      defaultMessage: (argument) =>
        `${argument?.property} must be IP addresses or ranges such as 10.0.0.0/8, comma-separated`,
    },
  });
}

function areRanges(values: string[]): boolean {
  try {
    compile(values);
    return true;
  } catch {
    return false;
  }
}

const TARGETS = [null, 'read-write', 'primary'];

/** PostgreSQL URL with one or more comma-separated hosts. The service uses the host that accepts writes. */
export function DatabaseUrlVariable(): PropertyDecorator {
  return ValidateBy({
    name: 'databaseUrl',
    validator: {
      validate: (value) => typeof value === 'string' && isDatabase(value),
      defaultMessage: (argument) =>
        `${argument?.property} must be a URL, postgres://… or postgresql://…, with one host or several (a:5432,b:5432); ` +
        'target_session_attrs, if given, must be read-write or primary',
    },
  });
}

function isDatabase(value: string): boolean {
  const urls = serverUrls(value).map((url) => new URL(url));
  return (
    urls.length > 0 &&
    urls.every(
      ({ protocol, searchParams }) =>
        /^postgres(ql)?:$/.test(protocol) && TARGETS.includes(searchParams.get('target_session_attrs')),
    )
  );
}

/** Default of DATABASE_SCHEMA, instead of `public`, where a product may have its own `users` table. */
export const DEFAULT_SCHEMA = 'oauth';

export function SchemaVariable(): PropertyDecorator {
  return ValidateBy({
    name: 'schema',
    validator: {
      validate: (value) => typeof value === 'string' && isSchemaName(value),
      defaultMessage: (argument) => `${argument?.property} must be ${SCHEMA_RULE}`,
    },
  });
}

export const SCHEMA_RULE =
  'a schema name: 1 to 63 characters of a-z, 0-9 and _, no digit first, not pg_… or information_schema';

export function isSchemaName(value: string): boolean {
  return /^(?!pg_|information_schema$)[a-z_][a-z0-9_]{0,62}$/.test(value);
}
