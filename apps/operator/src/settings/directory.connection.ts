import { type INestApplicationContext, Injectable } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DatabaseSettings } from './settings.js';
import { SettingsReader } from './settings.reader.js';

/** An operator waits for a prompt, not for a database: long enough for a fail-over, no longer. */
const RETRY_FOR_MS = 2_000;

/** The directory's stores, got by their classes. */
export type Stores = Pick<INestApplicationContext, 'get'>;

/** Opens the directory for the length of one command. */
@Injectable()
export class DirectoryConnection {
  constructor(private readonly settings: SettingsReader) {}

  /**
   * Runs `work` with the directory's stores, and closes the connection after it.
   *
   * @throws DatabaseUnavailableError, and what `work` throws
   */
  async use<T>(work: (stores: Stores) => Promise<T>): Promise<T> {
    const { DATABASE_URL, DATABASE_SCHEMA } = this.settings.read(DatabaseSettings);
    // Loaded when it is needed: help and wrong input are answered in half the time.
    const { DirectoryModule } = await import('#database/database.module.js');
    const directory = await NestFactory.createApplicationContext(
      DirectoryModule.forRoot({
        databaseUrl: DATABASE_URL,
        schema: DATABASE_SCHEMA,
        poolSize: 2,
        retryForMs: RETRY_FOR_MS,
      }),
      { logger: false, abortOnError: false },
    );
    try {
      return await work(directory);
    } finally {
      await directory.close();
    }
  }
}
