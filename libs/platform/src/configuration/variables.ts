import { compile } from '@fastify/proxy-addr';
import { applyDecorators } from '@nestjs/common';
import { isEmail, IsIn, IsInt, Max, Min, ValidateBy, ValidateIf } from 'class-validator';

/** Splits `scheme://user:password@a:1,b:2/path`, as in libpq, into one URL per host; empty for an invalid URL. */
export function serverUrls(url: string): string[] {
  // The part before the last @ may contain commas.
  const parts = /^([a-z][a-z0-9+.-]*:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/is.exec(url.trim());
  if (!parts) return [];
  const [, before = '', servers = '', after = ''] = parts;
  const urls = servers.split(',').map((server) => `${before}${server.trim()}${after}`);
  const all = urls.every(
    (server) => URL.canParse(server) && (urls.length === 1 || new URL(server).hostname !== ''),
  );
  return all ? urls : [];
}

type Rule = string | ((variable: string, isProduction: boolean) => string);

/**
 * Accepts texts that `isValid` accepts, in the form of class-validator's custom decorators.
 * @param rule completes "VARIABLE must be …". Must not repeat the value, which may be a secret
 */
export function MustBe(
  rule: Rule,
  isValid: (value: string, configuration: object) => boolean,
): PropertyDecorator {
  return ValidateBy({
    name: 'mustBe',
    validator: {
      validate: (value, given) => typeof value === 'string' && isValid(value, given?.object ?? {}),
      defaultMessage: (given) => {
        const { property = '', object = {} } = given ?? {};
        return `${property} must be ${typeof rule === 'string' ? rule : rule(property, isInProduction(object))}`;
      },
    },
  });
}

/** Accepts text that `parse` accepts. The error of `parse` must not repeat the text. */
export function ParsedBy(parse: (text: string) => unknown, rule: string): PropertyDecorator {
  const problem = (value: unknown): string | null => {
    try {
      parse(String(value));
      return null;
    } catch (error) {
      return (error as Error).message;
    }
  };
  return ValidateBy({
    name: 'parsedBy',
    validator: {
      validate: (value) => problem(value) === null,
      defaultMessage: (given) => `${given?.property} must be ${rule}: ${problem(given?.value)}`,
    },
  });
}

export function IsUrls(...protocols: string[]): PropertyDecorator {
  const schemes = protocols.map((protocol) => `${protocol}://…`).join(' or ');
  return MustBe(`one or more URLs, ${schemes}, comma-separated`, (value) =>
    value.split(',').every((url) => isUrl(url.trim(), protocols)),
  );
}

export function IsAuditUrl(): PropertyDecorator {
  return applyDecorators(
    ValidateIf((_, value) => value !== ''),
    IsUrls('nats', 'tls'),
  );
}

function isUrl(value: string, protocols: readonly string[]): boolean {
  return URL.canParse(value) && protocols.includes(new URL(value).protocol.slice(0, -1));
}

/**
 * Public origin, which must be https in production, because it receives codes, tokens and secrets (RFC 6749 3.1, 3.2;
 * RFC 8414 2).
 */
export function IsOrigin({ optional = false } = {}): PropertyDecorator {
  return MustBe(
    (name, isProduction) => {
      const host = name.replace(/_URL$/, '').toLowerCase();
      const scheme = isProduction ? 'https' : 'http(s)';
      const when = isProduction ? ' (NODE_ENV is production)' : '';
      return `an ${scheme} origin with no path and no trailing slash, such as https://${host}.example.com${when}`;
    },
    (value, configuration) =>
      (optional && value === '') ||
      (isUrl(value, webSchemes(configuration)) && new URL(value).origin === value),
  );
}

/** Issuer of an OpenID provider; may be empty. Section 2 of OpenID Connect Core: https, without query and fragment. */
export function IsIssuer(): PropertyDecorator {
  return MustBe(
    'the issuer of an OpenID provider: an https URL of at most 255 characters without query and fragment, such as https://login.example.com',
    (value, configuration) =>
      value === '' ||
      (value.length <= 255 && isUrl(value, webSchemes(configuration)) && !/[?#@\s]/.test(value)),
  );
}

/** URL; may be empty. Must be https with NODE_ENV=production. */
export function IsAddress(): PropertyDecorator {
  return MustBe(
    'an https URL without fragment and password, such as https://app.example.com/login',
    (value, configuration) =>
      value === '' || (isUrl(value, webSchemes(configuration)) && !/[#@\s]/.test(value)),
  );
}

/** Any number of comma-separated origins without characters that are special in a Content-Security-Policy. */
export function IsOrigins(): PropertyDecorator {
  const isOrigin = (value: string, schemes: readonly string[]) =>
    isUrl(value, schemes) && new URL(value).origin === value && /^[a-z]+:\/\/[a-z0-9.-]+(:\d+)?$/.test(value);
  return MustBe(
    'https origins with no path and no trailing slash, comma-separated, such as https://pictures.example.com',
    (value, configuration) => listOf(value).every((origin) => isOrigin(origin, webSchemes(configuration))),
  );
}

/** URL of a page that other pages link to; may be empty. Must be https with NODE_ENV=production. */
export function IsLink(): PropertyDecorator {
  return MustBe(
    'an https URL, such as https://www.example.com/page',
    (value, configuration) => value === '' || isUrl(value, webSchemes(configuration)),
  );
}

export function IsDisplayName(): PropertyDecorator {
  return MustBe('1 to 60 printable characters with no space at either end', (value) =>
    /^(?!\s)[^\p{C}]{1,60}(?<!\s)$/u.test(value),
  );
}

/** URL of a mail server; may be empty. The port is 587 (`smtp`, with STARTTLS) or 465 (`smtps`) if it is not given. */
export function IsSmtpUrl(): PropertyDecorator {
  return MustBe(
    'smtp[s]://[user:password@]host[:port], with special characters of user and password as %XX',
    (value) =>
      value === '' ||
      (isUrl(value, ['smtp', 'smtps']) &&
        new URL(value).hostname !== '' &&
        ['', '/'].includes(new URL(value).pathname) &&
        !/[?#\s]/.test(value)),
  );
}

/** Email address without a name; may be empty. */
export function IsMailAddress(): PropertyDecorator {
  return MustBe(
    'an email address, such as oauth@example.com',
    (value) => value === '' || (isEmail(value) && !/\p{C}/u.test(value)),
  );
}

export function listOf(value: string): string[] {
  return value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function webSchemes(configuration: object): string[] {
  return isInProduction(configuration) ? ['https'] : ['https', 'http'];
}

function isInProduction(configuration: object): boolean {
  return 'NODE_ENV' in configuration && configuration.NODE_ENV === 'production';
}

/** Whole number within bounds. The field's default must be a number, so that `loadConfiguration` converts the text. */
export function IsWholeNumber(least: number, most: number): PropertyDecorator {
  const message = `$property must be a whole number from ${least} to ${most}`;
  return applyDecorators(IsInt({ message }), Min(least, { message }), Max(most, { message }));
}

export function IsOneOf(...choices: string[]): PropertyDecorator {
  return IsIn(choices, { message: `$property must be one of ${choices.join(', ')}` });
}

/** Base64url keys of 32 bytes, comma-separated, the signing key first (see KeyRing). */
export function IsKeyRing(): PropertyDecorator {
  return MustBe(
    `one or more different keys of 32 random bytes in base64url, comma-separated (node -p "crypto.randomBytes(32).toString('base64url')")`,
    (value) => {
      const keys = value.split(',').map((key) => key.trim());
      return keys.every((key) => /^[A-Za-z0-9_-]{43}$/.test(key)) && new Set(keys).size === keys.length;
    },
  );
}

/** Comma-separated IP addresses, CIDR ranges, `loopback`, `linklocal` or `uniquelocal`. */
export function IsProxies(): PropertyDecorator {
  return MustBe('IP addresses or ranges such as 10.0.0.0/8, comma-separated', (value) =>
    areRanges(listOf(value)),
  );
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
export function IsDatabaseUrl(): PropertyDecorator {
  return MustBe(
    'a URL, postgres://… or postgresql://…, with one host or several (a:5432,b:5432); ' +
      'target_session_attrs, if given, must be read-write or primary',
    (value) => {
      const urls = serverUrls(value).map((url) => new URL(url));
      return (
        urls.length > 0 &&
        urls.every(
          ({ protocol, searchParams }) =>
            /^postgres(ql)?:$/.test(protocol) && TARGETS.includes(searchParams.get('target_session_attrs')),
        )
      );
    },
  );
}

/** Default of DATABASE_SCHEMA, instead of `public`, where a product may have its own `users` table. */
export const DEFAULT_SCHEMA = 'oauth';

export const IsSchema = (): PropertyDecorator => MustBe(SCHEMA_RULE, isSchemaName);

export const SCHEMA_RULE =
  'a schema name: 1 to 50 characters of a-z, 0-9 and _, no digit first, not pg_… or information_schema';

export function isSchemaName(value: string): boolean {
  return /^(?!pg_|information_schema$)[a-z_][a-z0-9_]{0,49}$/.test(value);
}
