import 'reflect-metadata';
import { ConfigurationError, loadConfiguration } from '#platform/configuration/load-configuration.js';
import { IsOneOf, listOf, IsWholeNumber, IsOrigins, IsOrigin } from '#platform/configuration/variables.js';

function problemsOf<T extends object>(
  shape: new () => T,
  env: NodeJS.ProcessEnv,
  readers: readonly ((configuration: T) => unknown)[] = [],
): readonly string[] {
  try {
    loadConfiguration(shape, env, readers);
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
}

class Configuration {
  @IsWholeNumber(0, 65_535) PORT = 3001;
  @IsWholeNumber(1, 600) CODE_LIFETIME = 60;
  @IsOneOf('info', 'warn') LOG_LEVEL = 'info';
}

describe('the configuration of a process', () => {
  it('uses defaults for absent or empty variables, and reads numbers from text', () => {
    expect(loadConfiguration(Configuration, { PORT: '', CODE_LIFETIME: '30' })).toMatchObject({
      PORT: 3001,
      CODE_LIFETIME: 30,
      LOG_LEVEL: 'info',
    });
  });

  it('lists each problem once, without values', () => {
    expect(problemsOf(Configuration, { PORT: 'x', CODE_LIFETIME: '601', LOG_LEVEL: 'loud' })).toEqual([
      'CODE_LIFETIME must be a whole number from 1 to 600',
      'LOG_LEVEL must be one of info, warn',
      'PORT must be a whole number from 0 to 65535',
    ]);
  });

  it('lists the problems of the variables and of the readers together', () => {
    const read = (): never => {
      throw new ConfigurationError(['FILE does not exist']);
    };
    expect(problemsOf(Configuration, { PORT: '70000', LOG_LEVEL: 'loud' }, [read])).toEqual([
      'LOG_LEVEL must be one of info, warn',
      'PORT must be a whole number from 0 to 65535',
      'FILE does not exist',
    ]);
    expect(problemsOf(Configuration, {}, [read])).toEqual(['FILE does not exist']);
  });

  it('does not hide an unexpected error of a reader', () => {
    const fail = (): never => {
      throw new TypeError('a bug');
    };
    expect(() => problemsOf(Configuration, {}, [fail])).toThrow('a bug');
    expect(problemsOf(Configuration, { PORT: 'x' }, [fail])).toEqual([
      'PORT must be a whole number from 0 to 65535',
    ]);
  });

  it.each([undefined, ''])('reports a required variable as missing if it is %p', (AUTH_URL) => {
    class Required {
      @IsOrigin() AUTH_URL: string;
    }
    const load = () => loadConfiguration(Required, { AUTH_URL });
    expect(load).toThrow('AUTH_URL is missing: it must be an http(s) origin');
    expect(() => loadConfiguration(Required, { AUTH_URL: 'x' })).toThrow(
      'AUTH_URL must be an http(s) origin',
    );
  });
});

class Origins {
  NODE_ENV = 'development';
  @IsOrigin() BASE_URL: string;
  @IsOrigin({ optional: true }) API_URL = '';
}

const problems = (env: NodeJS.ProcessEnv) => problemsOf(Origins, env);

describe('the public origin of a service', () => {
  // @rfc 6749 1.6 @rfc 8414 2 @rfc 9207 2 @rfc 9728 2
  it('must be https in production (RFC 6749 3.1, 3.2, RFC 8414 2)', () => {
    expect(problems({ NODE_ENV: 'production', BASE_URL: 'https://base.example.com' })).toEqual([]);
    for (const BASE_URL of ['http://base.example.com', 'http://localhost:3002'])
      expect(problems({ NODE_ENV: 'production', BASE_URL })).toEqual([
        'BASE_URL must be an https origin with no path and no trailing slash, such as https://base.example.com (NODE_ENV is production)',
      ]);
  });

  it('may be empty if it is optional', () => {
    const good = { NODE_ENV: 'production', BASE_URL: 'https://base.example.com' };
    expect(problems({ ...good, API_URL: '' })).toEqual([]);
    expect(problems({ ...good, API_URL: 'https://api.example.com' })).toEqual([]);
    expect(problems({ ...good, API_URL: 'http://api.example.com' })).toEqual([
      expect.stringMatching(/^API_URL must be an https origin/),
    ]);
  });

  it.each([undefined, 'development', 'test'])('may be http if NODE_ENV is %s', (NODE_ENV) => {
    expect(problems({ NODE_ENV, BASE_URL: 'http://localhost:3002' })).toEqual([]);
  });

  it.each([
    'https://base.example.com/',
    'https://base.example.com/x',
    'ftp://base.example.com',
    'base',
    undefined,
  ])('cannot be %s', (BASE_URL) => {
    for (const NODE_ENV of ['production', 'development'])
      expect(problems({ NODE_ENV, BASE_URL })).toEqual([
        expect.stringMatching(/^BASE_URL (is missing: it )?must be an http/),
      ]);
  });
});

describe('trusted origins', () => {
  class Trusting {
    NODE_ENV = 'development';
    @IsOrigins() ORIGINS = '';
  }
  const trusted = (ORIGINS: string, NODE_ENV = 'production') =>
    listOf(loadConfiguration(Trusting, { NODE_ENV, ORIGINS }).ORIGINS);

  it('may be any number of https origins, or empty', () => {
    expect(trusted('')).toEqual([]);
    expect(trusted('https://a.example, https://b.example:8443')).toEqual([
      'https://a.example',
      'https://b.example:8443',
    ]);
    expect(trusted('http://localhost:9000', 'development')).toEqual(['http://localhost:9000']);
  });

  it.each([
    'http://a.example',
    'https://a.example/',
    'https://a.example/x',
    'https:',
    '*',
    'https://*.a.example',
    "https://a;script-src'*'.example",
    'https://a.example https://b.example',
    'https://a.example,evil',
  ])('cannot contain %s', (value) => {
    expect(() => trusted(value)).toThrow(ConfigurationError);
  });
});
