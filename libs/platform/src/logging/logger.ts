import type { LoggerService } from '@nestjs/common';
import { destination, type Level, type Logger, pino } from 'pino';
import { redactLine } from './request-log.js';

/** Bytes per write, below SonicBoom's maximum of 16 KiB. With 4 KiB, a small request would cost a quarter more. */
const WRITE_BYTES = 12 * 1024;
/** Flush interval. A killed process loses the lines of the last interval. */
const LOG_DELAY_MS = 50;

export function createLogger(service: string, level: string): Logger {
  return pino(
    { level, base: { service }, hooks: { streamWrite: redactLine } },
    // Unbuffered writes double the cost of a line. pino flushes the buffer when the process exits.
    destination({
      fd: 1,
      sync: false,
      minLength: WRITE_BYTES,
      // Disables the timer of a silent log, because each tick of SonicBoom's timer writes, even without a line.
      periodicFlush: level === 'silent' ? 0 : LOG_DELAY_MS,
      contentMode: 'buffer',
    }),
  );
}

/** Contexts in which Nest logs forty lines at every start. */
const START_UP_CONTEXTS: ReadonlySet<unknown> = new Set([
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
]);

/** Writes Nest's log to the process's logger. Logs Nest's startup messages at level debug. */
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

  /** @param rest further arguments from Nest: perhaps the stack of an error, and finally the context */
  private write(level: Level, message: unknown, rest: readonly unknown[]): void {
    const context = rest.at(-1);
    const stack = rest.length > 1 ? rest[0] : undefined;
    const fields = {
      ...(typeof context === 'string' && { context }),
      ...(typeof stack === 'string' && { stack }),
    };
    if (message instanceof Error) this.logger[level]({ ...fields, err: message });
    // An object contains the fields of the line, with the message as `msg`.
    else if (typeof message === 'object') this.logger[level]({ ...fields, ...message });
    else this.logger[level](fields, message as string);
  }
}
