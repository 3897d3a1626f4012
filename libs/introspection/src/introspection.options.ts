import type { FactoryProvider, ModuleMetadata } from '@nestjs/common';

export const INTROSPECTION_OPTIONS = Symbol('introspection options');

export interface IntrospectionOptions {
  /** URLs of the NATS servers of the token app: `nats://[user:password@]host:port[,nats://…]`, or `tls://…`. */
  readonly natsUrl: string;
  /** Connection name in NATS monitoring; default `api`. */
  readonly name?: string | undefined;
  /** Timeout of requests to the token app in milliseconds, at most 10000; default 2000. */
  readonly timeoutMs?: number | undefined;
  /** URL of the API's metadata (RFC 9728) in challenges. `@ResourceMetadata` overrides the URL for a route. */
  readonly resourceMetadata?: string | undefined;
  /**
   * Public URL of the API without a trailing slash (`https://api.example.com`). The `htu` of DPoP proofs must begin
   * with this URL (RFC 9449), and the audience of tokens must cover this URL (RFC 8707). Without this option, the API
   * accepts only bearer tokens that were requested for no particular API.
   */
  readonly resourceUrl?: string | undefined;
  /** Seconds for which a proof is accepted after its `iat`, at most 3600; default 300. */
  readonly proofLifetime?: number | undefined;
  /** Seconds that the `iat` of a proof may be in the future, at most 300; default 5. */
  readonly clockSkew?: number | undefined;
}

/** Options that need other providers, such as a `ConfigService`. */
export interface IntrospectionAsyncOptions
  extends
    Pick<ModuleMetadata, 'imports'>,
    Pick<FactoryProvider<IntrospectionOptions>, 'inject' | 'useFactory'> {}

const isNatsUrl = (value: unknown): boolean =>
  typeof value === 'string' &&
  value
    .split(',')
    .every((server) => /^(?:nats|tls):\/\/[^/]/.test(server.trim()) && URL.canParse(server.trim()));
const isHttpUrl = (value: unknown): boolean =>
  typeof value === 'string' && /^https?:\/\//.test(value) && URL.canParse(value);
const isNumber =
  (min: number, max: number) =>
  (value: unknown): boolean =>
    typeof value === 'number' && value >= min && value <= max;

/** Rules of the options. Error messages do not contain values, because `natsUrl` may contain a password. */
const RULES: Readonly<
  Record<keyof IntrospectionOptions, readonly [check: (value: unknown) => boolean, mustBe: string]>
> = {
  natsUrl: [isNatsUrl, 'nats://[user:password@]host:port or tls://…, several servers separated by commas'],
  name: [(value) => typeof value === 'string' && value !== '', 'a non-empty string'],
  timeoutMs: [isNumber(1, 10_000), 'a number of milliseconds from 1 to 10000'],
  resourceMetadata: [isHttpUrl, 'an http or https URL'],
  resourceUrl: [
    (value) => isHttpUrl(value) && !/[?#]|\/$/.test(String(value)),
    'an http or https URL without a query or trailing slash',
  ],
  proofLifetime: [isNumber(1, 3600), 'a number of seconds from 1 to 3600'],
  clockSkew: [isNumber(0, 300), 'a number of seconds from 0 to 300'],
};

/** @throws TypeError that lists every invalid option */
export function checkOptions(options: IntrospectionOptions): IntrospectionOptions {
  const values: Readonly<Record<string, unknown>> = { ...options };
  const problems = Object.entries(RULES)
    .filter(([name, [isValid]]) => {
      const value = values[name];
      return value === undefined ? name === 'natsUrl' : !isValid(value);
    })
    .map(([name, [, mustBe]]) => `${name} must be ${mustBe}`);
  if (problems.length > 0) throw new TypeError(`IntrospectionModule: ${problems.join('; ')}`);
  return options;
}
