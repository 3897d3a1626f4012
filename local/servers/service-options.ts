import type { FoundServer } from './find-server.js';

/** The servers that the product itself needs. */
export type BackingServer = Extract<FoundServer['name'], 'postgres' | 'redis-server' | 'nats-server'>;

/** What each backing service is started with. */
export interface ServiceOptions {
  /** Where persistent data, logs and unpacked packages go. */
  directory: string;
  /** Kept between runs with safe settings; otherwise fast settings in a temporary folder that is deleted at the end. */
  persistent: boolean;
  find(server: BackingServer, folder: string): Promise<FoundServer[]>;
}
