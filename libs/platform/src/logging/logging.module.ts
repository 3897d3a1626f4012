import type { DynamicModule } from '@nestjs/common';
import { LoggerModule } from 'nestjs-pino';
import { logContext, referenceOf } from './log-context.js';

/** JSON logs, one line a request: method, path without its query, status, duration and what was noted on the way. */
export class LoggingModule {
  static forRoot(service: string, level: string): DynamicModule {
    return {
      module: LoggingModule,
      imports: [
        LoggerModule.forRoot({
          // nestjs-pino's default pattern matches nothing but "/" on Nest's Fastify adapter.
          forRoutes: ['{*path}'],
          pinoHttp: {
            level,
            base: { service },
            genReqId: referenceOf,
            hooks: { streamWrite: withoutCredentials },
            // Headers carry credentials and queries carry codes: neither is ever logged.
            serializers: {
              req: ({ id, method, url }: LoggedRequest) => ({ id, method, path: pathOf(url) }),
              res: ({ statusCode }: { statusCode: number }) => ({ statusCode }),
            },
            quietReqLogger: true,
            customAttributeKeys: { reqId: 'reference' },
            customProps: (request) => logContext(request),
            customLogLevel: (_request, response) => (response.statusCode >= 500 ? 'error' : 'info'),
            customSuccessMessage: (_request, response) =>
              response.statusCode < 400 ? 'answered' : 'refused',
            customErrorMessage: () => 'failed',
          },
        }),
      ],
    };
  }
}

interface LoggedRequest {
  id: unknown;
  method: string;
  url: string;
}

const LONGEST_PATH = 200;

/**
 * Anybody can ask for 16 KiB of path; ours are short. No target of a request has a fragment (RFC 9112 3.2.1), but whoever
 * sends one is answered, and what follows # may hold what a query holds. Decoded, because a credential with an encoded
 * character is not recognized as one.
 */
function pathOf(url: string): string {
  return decoded(url.split(/[?#]/, 1)[0] ?? '').slice(0, LONGEST_PATH);
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** People put secrets where none belongs: in a path, or for a client id. Our prefixes tell them from everything else. */
function withoutCredentials(line: string): string {
  return line.replaceAll(/(s(?:ac|at|rt|cs)_)[\w-]{16,}/g, '$1…');
}
