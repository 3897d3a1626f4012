import 'reflect-metadata';
import { ConfigurationError, loadConfiguration } from '#platform/configuration/load-configuration.js';
import { ChoiceVariable, NumberVariable, OriginVariable } from '#platform/configuration/variables.js';

class Configuration {
  @NumberVariable(0, 65_535) PORT = 3001;
  @NumberVariable(1, 600) CODE_LIFETIME = 60;
  @ChoiceVariable('info', 'warn') LOG_LEVEL = 'info';
}

describe('the configuration of a process', () => {
  it('uses defaults for absent or empty variables, and reads numbers from text', () => {
    expect(loadConfiguration(Configuration, { PORT: '', CODE_LIFETIME: '30' })).toMatchObject({
      PORT: 3001,
      CODE_LIFETIME: 30,
      LOG_LEVEL: 'info',
    });
  });

  it('lists every problem, each once, without values', () => {
    expect(problems({ PORT: 'x', CODE_LIFETIME: '601', LOG_LEVEL: 'loud' })).toEqual([
      'CODE_LIFETIME must be a whole number from 1 to 600',
      'LOG_LEVEL must be one of info, warn',
      'PORT must be a whole number from 0 to 65535',
    ]);
  });

  it('lists problems of variables and of readers together', () => {
    const read = (): never => {
      throw new ConfigurationError(['FILE does not exist']);
    };
    expect(problems({ PORT: '70000', LOG_LEVEL: 'loud' }, [read])).toEqual([
      'LOG_LEVEL must be one of info, warn',
      'PORT must be a whole number from 0 to 65535',
      'FILE does not exist',
    ]);
    expect(problems({}, [read])).toEqual(['FILE does not exist']);
  });

  it('does not hide an unexpected error of a reader', () => {
    const fail = (): never => {
      throw new TypeError('a bug');
    };
    expect(() => problems({}, [fail])).toThrow('a bug');
    expect(problems({ PORT: 'x' }, [fail])).toEqual(['PORT must be a whole number from 0 to 65535']);
  });

  it.each([undefined, ''])('reports a required variable as missing when it is %p', (AUTH_URL) => {
    class Required {
      @OriginVariable() AUTH_URL: string;
    }
    const load = () => loadConfiguration(Required, { AUTH_URL });
    expect(load).toThrow('AUTH_URL is missing: it must be an http(s) origin');
    expect(() => loadConfiguration(Required, { AUTH_URL: 'x' })).toThrow(
      'AUTH_URL must be an http(s) origin',
    );
  });

  function problems(
    env: NodeJS.ProcessEnv,
    readers: readonly ((configuration: Configuration) => unknown)[] = [],
  ): readonly string[] | undefined {
    try {
      loadConfiguration(Configuration, env, readers);
      return undefined;
    } catch (error) {
      if (error instanceof ConfigurationError) return error.problems;
      throw error;
    }
  }
});
