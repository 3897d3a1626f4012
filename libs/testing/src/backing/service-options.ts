import type { FoundServer } from './find-server.js';

/** What each backing service is started with. */
export interface ServiceOptions {
  /** Where persistent data, logs and unpacked packages go. */
  directory: string;
  /** Kept between runs with safe settings; otherwise fast settings in a temporary folder that is deleted at the end. */
  persistent: boolean;
  find(server: FoundServer['name'], folder: string): Promise<FoundServer[]>;
}
