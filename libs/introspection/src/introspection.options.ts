import type { FactoryProvider, ModuleMetadata } from '@nestjs/common';

/** Injection token of the library's options. */
export const INTROSPECTION_OPTIONS = Symbol('introspection options');

export interface IntrospectionOptions {
  /** `nats://[user:password@]host:port[,nats://…]`: the NATS of the token app. */
  readonly natsUrl: string;
  /** Name of the connection in the monitoring of the NATS server; `api` when absent. */
  readonly name?: string | undefined;
  /** How long a request waits for the token app, in milliseconds, at most 10000; 2000 when absent. */
  readonly timeoutMs?: number | undefined;
  /** URL of the API's metadata (RFC 9728), which challenges name; `@ResourceMetadata` replaces it for a route. */
  readonly resourceMetadata?: string | undefined;
  /**
   * Where clients reach the API, with no slash at its end (`https://api.example.com`): what the `htu` of a DPoP proof
   * must begin with (RFC 9449), and what the audience of a token must cover (RFC 8707). When it is absent the API accepts
   * bearer tokens only, and only those that were requested for no API in particular.
   */
  readonly resourceUrl?: string | undefined;
  /** How long after its `iat` a proof is accepted, in seconds, at most 3600; 300 when absent. */
  readonly proofLifetime?: number | undefined;
  /** How far in the future the `iat` of a proof may be, in seconds, at most 300; 5 when absent. */
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

/** By option, its check and what it must be. No message repeats a value: `natsUrl` holds a password. */
const RULES: Readonly<
  Record<keyof IntrospectionOptions, readonly [check: (value: unknown) => boolean, mustBe: string]>
> = {
  natsUrl: [isNatsUrl, 'nats://[user:password@]host:port or tls://…, several servers separated by commas'],
  name: [(value) => typeof value === 'string' && value !== '', 'a string that is not empty'],
  timeoutMs: [isNumber(1, 10_000), 'a number of milliseconds from 1 to 10000'],
  resourceMetadata: [isHttpUrl, 'an http or https URL'],
  resourceUrl: [
    (value) => isHttpUrl(value) && !/[?#]|\/$/.test(String(value)),
    'an http or https URL without a query and with no slash at its end',
  ],
  proofLifetime: [isNumber(1, 3600), 'a number of seconds from 1 to 3600'],
  clockSkew: [isNumber(0, 300), 'a number of seconds from 0 to 300'],
};

/** @throws TypeError that names every option that is wrong: a service must not start with them */
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
