import { Logger } from '@nestjs/common';
import { Refusals } from '#introspection/refusals.js';
import { DependencyUnavailableError } from '#platform/dependency-unavailable.error.js';

const headers: string[] = [];
const response = { header: (name: string) => void headers.push(name) };

it('Refusals returns other errors than an outage of the token app unchanged, without Retry-After', () => {
  const refusals = new Refusals({ natsUrl: 'nats://localhost' });
  const error = new TypeError('a fault of ours');
  expect([refusals.failure(response, error), refusals.dpop(response, {}, error)]).toEqual([error, error]);
  expect(headers).toEqual([]);
});

it('Refusals logs the cause of many failed requests once, because Nest does not log HTTP exceptions', () => {
  const lines: string[] = [];
  const silent = () => undefined;
  Logger.overrideLogger({ log: silent, error: silent, warn: (line: string) => void lines.push(line) });
  try {
    const refusals = new Refusals({ natsUrl: 'nats://localhost' });
    for (let requests = 0; requests < 3; requests++)
      refusals.failure(response, new DependencyUnavailableError('nats', 'the connection is cut'));
  } finally {
    Logger.overrideLogger(['log', 'error', 'warn']);
  }
  expect(lines).toEqual([expect.stringMatching(/get 503.*nats is unavailable: the connection is cut$/)]);
});
