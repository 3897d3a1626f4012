import type { Transcript } from '../demo/transcript.js';
import type { CommandLine } from './command-line.js';
import type { Company } from './company.js';

export interface Registered {
  client_id: string;
  client_secret: string;
  redirect_uri: string;
}

export interface Person {
  username: string;
  email: string;
  password: string;
}

/** What the steps of the day work on. */
export interface Day {
  readonly operator: CommandLine;
  readonly transcript: Transcript;
  readonly user: Person;
  /** For files. */
  readonly folder: string;
  /** With its newest secret. */
  client: Registered;
  company: Company;
}
