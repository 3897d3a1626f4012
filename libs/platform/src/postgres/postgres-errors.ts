import { serverUrls } from '../configuration/variables.js';
import { DependencyUnavailableError } from '../errors.js';

// SQLSTATE codes and classes.
const UNIQUE_VIOLATION = '23505';
const CHECK_VIOLATION = '23514';
const READ_ONLY_TRANSACTION = '25006';
const UNKNOWN_DATABASE = '3D000';
const UNDEFINED_TABLE = '42P01';
const TOO_MANY_CONNECTIONS = '53300';
const QUERY_CANCELED = '57014';
export const CANNOT_CONNECT_NOW = '57P03';
const CONNECTION_EXCEPTION = String.raw`08\w{3}`;
const INSUFFICIENT_RESOURCES = String.raw`53\w{3}`;
const STOPPING_OR_STARTING = '57P0[1-3]';
const OPERATOR_INTERVENTION = String.raw`57P0\d`;
const NETWORK_ERRORS = [
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
  'EAI_AGAIN',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'EPIPE',
];

const oneOf = (...codes: readonly string[]): RegExp => new RegExp(`^(?:${codes.join('|')})$`);

const TRANSIENT = oneOf(
  CONNECTION_EXCEPTION,
  TOO_MANY_CONNECTIONS,
  STOPPING_OR_STARTING,
  ...NETWORK_ERRORS,
  'ENOENT',
);
const UNAVAILABLE_CODES = oneOf(
  CONNECTION_EXCEPTION,
  INSUFFICIENT_RESOURCES,
  OPERATOR_INTERVENTION,
  QUERY_CANCELED,
  READ_ONLY_TRANSACTION,
  ...NETWORK_ERRORS,
  'ENETUNREACH',
);
// Messages of errors that the driver throws without a code.
const UNAVAILABLE_MESSAGES =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout)/i;

/** An error of the driver, or an error of TypeORM with the driver's error in `driverError`. */
interface DatabaseError {
  readonly code?: string;
  readonly message?: string;
  readonly driverError?: { readonly code?: string; readonly constraint?: string };
}

/** Converts an error that means that PostgreSQL is unavailable. Returns any other error unchanged. */
export function translateOutage(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof DependencyUnavailableError) return error;
  const { code = '', message = '' } = error as DatabaseError;
  return UNAVAILABLE_CODES.test(code) || UNAVAILABLE_MESSAGES.test(message)
    ? new DependencyUnavailableError('postgres', error)
    : error;
}

/** Undoes `translateOutage`. */
function driverErrorOf(error: unknown): DatabaseError {
  return (error instanceof DependencyUnavailableError ? error.cause : error) as DatabaseError;
}

/** Returns true if a later attempt to connect may succeed with the same configuration. */
export function isTransient(error: unknown): boolean {
  const { code, message = '' } = driverErrorOf(error);
  // pg reports a connection timeout or a closed socket without a code.
  return code === undefined ? /timeout|terminated/i.test(message) : TRANSIENT.test(code);
}

export function isReadOnlyServer(error: unknown): boolean {
  return (error as DatabaseError).code === READ_ONLY_TRANSACTION;
}

export function isUndefinedTable(error: unknown): boolean {
  return (error as DatabaseError).code === UNDEFINED_TABLE;
}

export function violatedConstraint(error: unknown): string | undefined {
  const { driverError } = error as DatabaseError;
  return driverError?.code === UNIQUE_VIOLATION ? driverError.constraint : undefined;
}

export function violatedCheck(error: unknown): string | undefined {
  const { driverError } = error as DatabaseError;
  return driverError?.code === CHECK_VIOLATION ? driverError.constraint : undefined;
}

/** SQLSTATE class of invalid values. */
const DATA_EXCEPTION = /^22/;

/** Returns the violated constraint, or '' for an invalid value, if PostgreSQL rejected a row; null otherwise. */
export function refusedRow(error: unknown): string | null {
  const { code = '', constraint = '' } = (error as DatabaseError).driverError ?? {};
  if (code === UNIQUE_VIOLATION || code === CHECK_VIOLATION) return constraint;
  return DATA_EXCEPTION.test(code) ? '' : null;
}

/** Returns an error that names the server, the reason and the remedy, but never the password. */
export function databaseUnavailable(databaseUrl: string, cause: unknown): DependencyUnavailableError {
  const remedy =
    (cause as DatabaseError).code === UNKNOWN_DATABASE
      ? 'create it, or correct DATABASE_URL'
      : 'check DATABASE_URL and that PostgreSQL is running';
  const problem = `${databaseAddress(databaseUrl)}: ${reasonOf(driverErrorOf(cause))}; ${remedy}`;
  return new DependencyUnavailableError('postgres', new Error(problem, { cause }));
}

/** Address without user and password: `a.example.com:5432/oauth`. */
export function databaseAddress(databaseUrl: string): string {
  const servers = serverUrls(databaseUrl).map((url) => new URL(url));
  if (servers.length === 0) return 'DATABASE_URL is not a URL';
  const addresses = servers.map(({ hostname, port }) => `${hostname}:${port || '5432'}`);
  return `${addresses.join(',')}${servers[0]?.pathname}`;
}

/** Returns the code if the message is empty, as in Node's AggregateError for several addresses. */
export function reasonOf(error: unknown): string {
  const { message, code } = error as DatabaseError;
  return message || code || 'no connection';
}
