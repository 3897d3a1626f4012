import type { LoggerService } from '@nestjs/common';
import { destination, type Level, type Logger, pino } from 'pino';

/** Of one write, below the most that SonicBoom writes at once (16 KiB): with 4 KiB a small request costs a quarter more. */
const WRITE_BYTES = 12 * 1024;
/** How long a line waits for others to be written with. What a killed process logged within it is lost. */
const LOG_DELAY_MS = 50;

/** The JSON logger of a process, for the requests' lines and for Nest's. */
export function createLogger(service: string, level: string): Logger {
  return pino(
    { level, base: { service }, hooks: { streamWrite: redactCredentials } },
    // A write for each line costs as much as the line. pino writes what is left when the process exits.
    destination({ fd: 1, sync: false, minLength: WRITE_BYTES, periodicFlush: LOG_DELAY_MS }),
  );
}

const CREDENTIAL = /(s(?:ac|at|rt|cs)_)[\w-]{16,}/g;

/** Shortens credentials that a user put where none belongs, such as in a path or a client id, to their prefix. */
export function redactCredentials(line: string): string {
  return line.replaceAll(CREDENTIAL, '$1…');
}

/** Nest announces each of its parts under these: forty lines at every start. */
const START_UP_CONTEXTS: ReadonlySet<unknown> = new Set([
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
]);

/** Nest's log on the process's logger. What Nest says about its own start is at level debug. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Pick<Logger, Level>) {}

  log(message: unknown, ...rest: unknown[]): void {
    this.write(START_UP_CONTEXTS.has(rest.at(-1)) ? 'debug' : 'info', message, rest);
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.write('error', message, rest);
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.write('fatal', message, rest);
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.write('trace', message, rest);
  }

  /** @param rest what Nest passes besides the message: the context last, before it the stack of an error */
  private write(level: Level, message: unknown, rest: readonly unknown[]): void {
    const context = rest.at(-1);
    const stack = rest.length > 1 ? rest[0] : undefined;
    const fields = {
      ...(typeof context === 'string' && { context }),
      ...(typeof stack === 'string' && { stack }),
    };
    if (message instanceof Error) this.logger[level]({ ...fields, err: message });
    // An object is the fields of the line; its `msg` is the message.
    else if (typeof message === 'object') this.logger[level]({ ...fields, ...message });
    else this.logger[level](fields, message as string);
  }
}
