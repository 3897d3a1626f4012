import 'reflect-metadata';
import { ConfigurationError, loadConfiguration } from '#platform/configuration/load-configuration.js';
import { listOf, OriginsVariable, OriginVariable } from '#platform/configuration/variables.js';

class Configuration {
  NODE_ENV = 'development';
  @OriginVariable() BASE_URL: string;
  @OriginVariable({ optional: true }) API_URL = '';
}

function problems(env: NodeJS.ProcessEnv): readonly string[] {
  try {
    loadConfiguration(Configuration, env);
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
}

describe('the public origin of a service', () => {
  // @rfc 6749 1.6 @rfc 8414 2 @rfc 9207 2 @rfc 9728 2
  it('must be https in production (RFC 6749 3.1, 3.2, RFC 8414 2), and the error names only the variable', () => {
    expect(problems({ NODE_ENV: 'production', BASE_URL: 'https://base.example.com' })).toEqual([]);
    for (const BASE_URL of ['http://base.example.com', 'http://localhost:3002'])
      expect(problems({ NODE_ENV: 'production', BASE_URL })).toEqual([
        'BASE_URL must be an https origin with no path and no trailing slash, such as https://base.example.com (NODE_ENV is production)',
      ]);
  });

  it('may be empty if it is optional, and is otherwise checked as strictly', () => {
    const good = { NODE_ENV: 'production', BASE_URL: 'https://base.example.com' };
    expect(problems({ ...good, API_URL: '' })).toEqual([]);
    expect(problems({ ...good, API_URL: 'https://api.example.com' })).toEqual([]);
    expect(problems({ ...good, API_URL: 'http://api.example.com' })).toEqual([
      expect.stringMatching(/^API_URL must be an https origin/),
    ]);
  });

  it.each([undefined, 'development', 'test'])('may be http where NODE_ENV is %s', (NODE_ENV) => {
    expect(problems({ NODE_ENV, BASE_URL: 'http://localhost:3002' })).toEqual([]);
  });

  it.each([
    'https://base.example.com/',
    'https://base.example.com/x',
    'ftp://base.example.com',
    'base',
    undefined,
  ])('must be an origin: rejects %s', (BASE_URL) => {
    for (const NODE_ENV of ['production', 'development'])
      expect(problems({ NODE_ENV, BASE_URL })).toEqual([
        expect.stringMatching(/^BASE_URL (is missing: it )?must be an http/),
      ]);
  });
});

describe('trusted origins', () => {
  class Trusting {
    NODE_ENV = 'development';
    @OriginsVariable() ORIGINS = '';
  }
  const trusted = (ORIGINS: string, NODE_ENV = 'production') =>
    listOf(loadConfiguration(Trusting, { NODE_ENV, ORIGINS }).ORIGINS);

  it('may be any number of https origins; none by default', () => {
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
  ])('must not contain characters that are special in a content security policy: rejects %s', (value) => {
    expect(() => trusted(value)).toThrow(ConfigurationError);
  });
});
