import { NestLogger } from '#platform/logging/logger.js';
import { redactCredentials } from '#platform/logging/request-log.js';

function recorded() {
  const lines: unknown[][] = [];
  const at =
    (level: string) =>
    (...line: unknown[]) =>
      void lines.push([level, ...line]);
  const logger = new NestLogger({
    trace: at('trace'),
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    fatal: at('fatal'),
  });
  return { lines, logger };
}

describe('NestLogger', () => {
  it.each(['InstanceLoader', 'RoutesResolver', 'RouterExplorer'])(
    'writes the startup messages of %s at debug level',
    (context) => {
      const { lines, logger } = recorded();
      logger.log('initialized', context);
      expect(lines).toEqual([['debug', { context }, 'initialized']]);
    },
  );

  it.each([
    ['log', 'info'],
    ['warn', 'warn'],
    ['error', 'error'],
    ['debug', 'debug'],
    ['verbose', 'trace'],
    ['fatal', 'fatal'],
  ] as const)('keeps the level of other messages: %s', (method, level) => {
    const { lines, logger } = recorded();
    logger[method]('words', 'NATS');
    expect(lines).toEqual([[level, { context: 'NATS' }, 'words']]);
  });

  it('writes an Error as `err`, and a separate stack next to the message', () => {
    const { lines, logger } = recorded();
    const err = new Error('it failed');
    logger.error(err, undefined, 'Filter');
    logger.error('it failed', 'a stack', 'Filter');
    expect(lines).toEqual([
      ['error', { context: 'Filter', err }],
      ['error', { context: 'Filter', stack: 'a stack' }, 'it failed'],
    ]);
  });

  it('writes the fields of an object at the top level of the line', () => {
    const { lines, logger } = recorded();
    logger.warn({ subject: 'oauth.token.introspect', msg: 'refused' }, 'NATS');
    expect(lines).toEqual([['warn', { context: 'NATS', subject: 'oauth.token.introspect', msg: 'refused' }]]);
  });
});

describe('a log line', () => {
  it.each(['sac_', 'sat_', 'srt_', 'scs_'])('does not contain a credential at any position: %s', (prefix) => {
    const secret = `${prefix}${'s3cret-_'.repeat(5)}`;
    expect(redactCredentials(`{"path":"/${secret}/x","client_id":"${secret}"}`)).toBe(
      `{"path":"/${prefix}…/x","client_id":"${prefix}…"}`,
    );
  });

  it('is unchanged without a credential', () => {
    const line = '{"service":"token","path":"/api/sat_short"}';
    expect(redactCredentials(line)).toBe(line);
  });
});
