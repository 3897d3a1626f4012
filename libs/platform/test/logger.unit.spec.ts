import { NestLogger, redactCredentials } from '#platform/logging/logger.js';

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

describe("Nest's log", () => {
  it.each(['InstanceLoader', 'RoutesResolver', 'RouterExplorer'])(
    'has what %s says at start at debug only',
    (context) => {
      const { lines, logger } = recorded();
      logger.log('a part is there', context);
      expect(lines).toEqual([['debug', { context }, 'a part is there']]);
    },
  );

  it.each([
    ['log', 'info'],
    ['warn', 'warn'],
    ['error', 'error'],
    ['debug', 'debug'],
    ['verbose', 'trace'],
    ['fatal', 'fatal'],
  ] as const)('has everything else at its own level: %s', (method, level) => {
    const { lines, logger } = recorded();
    logger[method]('words', 'NATS');
    expect(lines).toEqual([[level, { context: 'NATS' }, 'words']]);
  });

  it('has an error as such, and the stack that came with a message', () => {
    const { lines, logger } = recorded();
    const err = new Error('it failed');
    logger.error(err, undefined, 'Filter');
    logger.error('it failed', 'a stack', 'Filter');
    expect(lines).toEqual([
      ['error', { context: 'Filter', err }],
      ['error', { context: 'Filter', stack: 'a stack' }, 'it failed'],
    ]);
  });
});

it('has the fields of an object on the line itself', () => {
  const { lines, logger } = recorded();
  logger.warn({ subject: 'oauth.token.introspect', msg: 'refused' }, 'NATS');
  expect(lines).toEqual([['warn', { context: 'NATS', subject: 'oauth.token.introspect', msg: 'refused' }]]);
});

describe('a log line', () => {
  it.each(['sac_', 'sat_', 'srt_', 'scs_'])('has no credential, wherever it stands: %s', (prefix) => {
    const secret = `${prefix}${'s3cret-_'.repeat(5)}`;
    expect(redactCredentials(`{"path":"/${secret}/x","client_id":"${secret}"}`)).toBe(
      `{"path":"/${prefix}…/x","client_id":"${prefix}…"}`,
    );
  });

  it('has everything else as it is', () => {
    const line = '{"service":"token","path":"/api/sat_short"}';
    expect(redactCredentials(line)).toBe(line);
  });
});
