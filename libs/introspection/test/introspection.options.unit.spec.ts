import { IntrospectionModule } from '#introspection/introspection.module.js';
import { checkOptions, type IntrospectionOptions } from '#introspection/introspection.options.js';

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
