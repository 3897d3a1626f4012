import { quietStart } from '#platform/logging/quiet-start.js';

const LEVELS = ['log', 'warn', 'error', 'debug', 'verbose', 'fatal'] as const;

function recorded() {
  const lines: unknown[][] = [];
  const levels = LEVELS.map((level) => [level, (...line: unknown[]) => void lines.push([level, ...line])]);
  return { lines, logger: quietStart(Object.fromEntries(levels)) };
}

describe('the log of a start', () => {
  it.each(['InstanceLoader', 'RoutesResolver', 'RouterExplorer'])(
    'tells of the parts that Nest’s %s makes at debug only',
    (part) => {
      const { lines, logger } = recorded();
      logger.log('a part is there', part);
      expect(lines).toEqual([['debug', 'a part is there', part]]);
    },
  );

  it.each(LEVELS)('leaves everything else at its level: %s', (level) => {
    const { lines, logger } = recorded();
    logger[level]?.('words', 'a trace', 'NATS');
    expect(lines).toEqual([[level, 'words', 'a trace', 'NATS']]);
  });
});
