import { expectEqual, Transcript } from '../demo/transcript.js';
import type { CommandLine } from './command-line.js';
import { consent } from '../demo/consent.js';
import { Application, type Tokens } from '../demo/application.js';
import type { Answer } from '../demo/exchange.js';
import type { RunFile } from '../demo/run-script.js';

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

export interface Day {
  readonly operator: CommandLine;
  readonly transcript: Transcript;
  readonly user: Person;
  readonly folder: string;
  /** The client with its newest secret. */
  client: Registered;
  company: Company;
}

/** An application of the day and its user: their requests are not printed. */
export class Company {
  private readonly silent = new Transcript(() => undefined);
  private readonly application: Application;

  constructor(private readonly run: RunFile) {
    this.application = new Application(run, this.silent);
  }

  /** The user logs in and clicks Allow. @returns the code */
  code(): Promise<string> {
    return consent(this.run, this.silent);
  }

  async connect(): Promise<Tokens> {
    return this.application.exchangeCode(await this.code());
  }

  /** Sends a code with another redirect URI, with any answer. */
  presentCode(code: string, redirectUri: string): Promise<Answer> {
    const run = { ...this.run, client: { ...this.run.client, redirect_uri: redirectUri } };
    return new Application(run, this.silent).client.redeem(code);
  }

  refresh(tokens: Tokens): Promise<Tokens> {
    return this.application.refresh(tokens);
  }

  /** @throws StepFailure unless `/v2/me` answers the access token with this status */
  async expectStatus(status: number, tokens: Tokens): Promise<void> {
    expectEqual('status of /v2/me', status, (await this.application.client.me(tokens.accessToken)).status);
  }
}
