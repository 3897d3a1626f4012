import type { LoggerService } from '@nestjs/common';

/** Where Nest says of each of its parts that it is there: forty lines at every start, for who debugs Nest. */
const PARTS: ReadonlySet<unknown> = new Set(['InstanceLoader', 'RoutesResolver', 'RouterExplorer']);

/** The same log, in which Nest's own parts are told of at the level `debug` only. */
export function quietStart(logger: LoggerService): LoggerService {
  return {
    log: (message: unknown, ...rest: unknown[]) => {
      if (PARTS.has(rest.at(-1))) logger.debug?.(message, ...rest);
      else logger.log(message, ...rest);
    },
    warn: (message: unknown, ...rest: unknown[]) => void logger.warn(message, ...rest),
    error: (message: unknown, ...rest: unknown[]) => void logger.error(message, ...rest),
    debug: (message: unknown, ...rest: unknown[]) => void logger.debug?.(message, ...rest),
    verbose: (message: unknown, ...rest: unknown[]) => void logger.verbose?.(message, ...rest),
    fatal: (message: unknown, ...rest: unknown[]) => void logger.fatal?.(message, ...rest),
  };
}
