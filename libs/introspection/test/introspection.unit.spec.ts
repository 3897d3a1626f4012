import { Logger } from '@nestjs/common';
import { IntrospectionModule } from '#introspection/introspection.module.js';
import { checkOptions, type IntrospectionOptions } from '#introspection/introspection.options.js';
import { Refusals } from '#introspection/refusals.js';
import { DependencyUnavailableError } from '#platform/errors.js';

const problemOf = (options: object): string => {
  try {
    checkOptions(options as IntrospectionOptions);
    return '';
  } catch (error) {
    return (error as Error).message;
  }
};

describe('the introspection library', () => {
  it.each([
    'nats://localhost:4222',
    'nats://bookings:p%40ss@nats:4222',
    'tls://nats.example.com:4222',
    'nats://a:4222, nats://b:4222',
  ])('accepts %s as natsUrl', (natsUrl) => {
    expect(problemOf({ natsUrl })).toBe('');
  });

  it.each([undefined, '', 'localhost:4222', 'http://localhost:4222', 'nats://', 'nats://a:4222,b:4222', 7])(
    'rejects %p as natsUrl',
    (natsUrl) => {
      expect(problemOf({ natsUrl })).toMatch(/natsUrl must be nats:\/\//);
    },
  );

  it('lists every invalid option, but not its value, in the error', () => {
    const problem = problemOf({
      natsUrl: 'natz://bookings:hidden@nats:4222',
      name: '',
      timeoutMs: 10_001,
      resourceMetadata: '/metadata',
      resourceUrl: 'https://api.example.com/',
      proofLifetime: 0,
      clockSkew: -1,
    });
    for (const option of [
      'natsUrl',
      'name',
      'timeoutMs',
      'resourceMetadata',
      'resourceUrl',
      'proofLifetime',
      'clockSkew',
    ])
      expect(problem).toContain(`${option} must be`);
    expect(problem).not.toContain('hidden');
  });

  it('rejects invalid options in forRoot', () => {
    expect(() => IntrospectionModule.forRoot(undefined as never)).toThrow(/natsUrl/);
    expect(() => IntrospectionModule.forRoot({ natsUrl: 'localhost' })).toThrow(TypeError);
  });
});

describe('challenges', () => {
  const options = { natsUrl: 'nats://localhost', resourceMetadata: 'https://api.example.com/metadata' };

  function challengeOf(resourceUrl: string | undefined, route: Parameters<Refusals['missingToken']>[1]) {
    let challenge = '';
    const response = { header: (_name: string, value: string) => void (challenge = value) };
    new Refusals({ ...options, resourceUrl }).missingToken(response, route);
    return challenge;
  }

  // @rfc 6750 3 @rfc 9728 5.1
  describe('a challenge', () => {
    it('names the required scope of the route for both schemes', () => {
      const challenge = challengeOf('https://api.example.com', { scope: 'a b' });
      expect(challenge).toMatch(/^Bearer scope="a b", .*, DPoP scope="a b", /);
    });

    it('names the metadata of the API if the route has no metadata', () => {
      expect(challengeOf(undefined, {})).toBe(`Bearer resource_metadata="${options.resourceMetadata}"`);
    });

    it.each([
      ['https://api.example.com', '/.well-known/x/notes', 'https://api.example.com/.well-known/x/notes'],
      ['https://api.example.com/v2', '/.well-known/x/v2', 'https://api.example.com/.well-known/x/v2'],
      ['https://api.example.com', 'https://other.example.com/m', 'https://other.example.com/m'],
      [undefined, '/.well-known/x/notes', 'https://api.example.com/.well-known/x/notes'],
    ])('names the metadata of the route: resourceUrl %s, metadata %s', (resourceUrl, metadata, expected) => {
      expect(challengeOf(resourceUrl, { metadata })).toContain(`Bearer resource_metadata="${expected}"`);
    });
  });

  const headers: string[] = [];
  const response = { header: (name: string) => void headers.push(name) };

  it('Refusals returns an error other than an outage of the token app unchanged', () => {
    const refusals = new Refusals({ natsUrl: 'nats://localhost' });
    const error = new TypeError('a fault of ours');
    expect([refusals.failure(response, error), refusals.dpop(response, {}, error)]).toEqual([error, error]);
    expect(headers).toEqual([]);
  });

  it('Refusals logs the cause of repeated failures once', () => {
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
});
