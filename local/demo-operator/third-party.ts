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

export interface DemoContext {
  readonly operator: CommandLine;
  readonly transcript: Transcript;
  readonly user: Person;
  readonly folder: string;
  /** The application's client with its newest secret. */
  client: Registered;
  thirdParty: ThirdParty;
}

/** A user and the user's third-party application. Prints nothing. */
export class ThirdParty {
  private readonly silent = new Transcript(() => undefined);
  private readonly application: Application;

  constructor(private readonly run: RunFile) {
    this.application = new Application(run, this.silent);
  }

  /** Logs in and clicks Allow. @returns the code */
  code(): Promise<string> {
    return consent(this.run, this.silent);
  }

  async connect(): Promise<Tokens> {
    return this.application.exchangeCode(await this.code());
  }

  presentCode(code: string, redirectUri: string): Promise<Answer> {
    const run = { ...this.run, client: { ...this.run.client, redirect_uri: redirectUri } };
    return new Application(run, this.silent).client.redeem(code);
  }

  refresh(tokens: Tokens): Promise<Tokens> {
    return this.application.refresh(tokens);
  }

  /** @throws StepFailure if `/v2/me` responds with another status */
  async expectStatus(status: number, tokens: Tokens): Promise<void> {
    expectEqual('status of /v2/me', status, (await this.application.client.me(tokens.accessToken)).status);
  }
}
