import { Injectable } from '@nestjs/common';
import { loadConfiguration } from '#platform/configuration/load-configuration.js';
import { runFile, runningProduct } from './running-product.js';

/** Finds the settings of a command: in the environment, or of the running `npm start`. */
@Injectable()
export class SettingsReader {
  /**
   * DATABASE_URL decides: when it is set, the environment alone counts, so that a command never mixes one
   * product's database with another one's addresses.
   *
   * @throws Error that says how to give the settings; ConfigurationError that lists what is wrong with them
   */
  read<T extends object>(shape: new () => T, env: NodeJS.ProcessEnv = process.env): T {
    if (env.DATABASE_URL) return loadConfiguration(shape, env);
    if (env.NODE_ENV === 'production') {
      throw new Error('DATABASE_URL is missing: set it to the PostgreSQL URL of the service');
    }
    const running = runningProduct(env);
    if (running) {
      // The schema belongs to the database.
      const { DATABASE_SCHEMA: _, ...rest } = withoutEmpty(env);
      return loadConfiguration(shape, { ...running, ...rest });
    }
    throw new Error(
      'DATABASE_URL is missing: start the product with "npm start" and this command works on it, or set it to the ' +
        `PostgreSQL URL of the service. No "npm start" runs with ${runFile(env)}: LOCAL_DIR must be the same in both places`,
    );
  }
}

function withoutEmpty(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value));
}
