import { setTimeout as sleep } from 'node:timers/promises';
import { OAuthClient, sendTo } from '#local/demo/oauth-client.js';
import { Browser } from '../support/browser.js';
import type { Pair } from '../support/tokens.js';
import type { AppProcess } from '../support/app-process.js';
import { until } from '../support/until.js';

const RETRY_DEADLINE_MS = 60_000;
const PAUSE_MS = 100;

export interface User {
  readonly email: string;
  readonly password: string;
}

export interface Installation {
  readonly authorizeUrl: string;
  /** One URL per replica. */
  readonly tokenUrls: readonly string[];
  readonly resourceUrls: readonly string[];
  readonly client: {
    readonly client_id: string;
    readonly client_secret: string;
    readonly redirect_uri: string;
  };
  readonly users: readonly User[];
}

interface Delay {
  readonly retried: boolean;
  readonly elapsedMs: number;
}

export interface Outcome extends Delay {
  readonly status: number;
  readonly text: string;
}

/** Retries on 503, as a robust client does. */
async function retryUntilAvailable<Answer extends { readonly status: number }>(
  send: () => Promise<Answer>,
): Promise<Delay & { readonly answer: Answer }> {
  const startedAt = performance.now();
  for (let retries = 0; ; retries++) {
    const answer = await send();
    const elapsedMs = performance.now() - startedAt;
    if (answer.status !== 503 || elapsedMs > RETRY_DEADLINE_MS)
      return { answer, retried: retries > 0, elapsedMs };
    await sleep(PAUSE_MS);
  }
}

export type RetryingClient = OAuthClient<Promise<Outcome>>;

/** Sends requests alternately to the replicas of an app. */
export function retryingClient({ client, tokenUrls, resourceUrls }: Installation): RetryingClient {
  let turn = 0;
  return new OAuthClient(client, client.redirect_uri, async (request) => {
    const urls = request.app === 'token' ? tokenUrls : resourceUrls;
    const { answer, ...outcome } = await retryUntilAvailable(async () => {
      const response = await sendTo(urls[turn++ % urls.length] ?? '', request);
      return { status: response.status, text: await response.text() };
    });
    return { ...answer, ...outcome };
  });
}

export function pairOf({ status, text }: Outcome): Pair {
  if (status !== 200) throw new Error(`no pair: ${status} ${text}`);
  return JSON.parse(text) as Pair;
}

export class UserBrowser {
  private readonly browser: Browser;
  private readonly url: URL;
  private delay: Delay = { retried: false, elapsedMs: 0 };

  constructor(
    { authorizeUrl, client }: Pick<Installation, 'authorizeUrl' | 'client'>,
    private readonly user: User,
  ) {
    this.browser = new Browser(authorizeUrl, async (send) => {
      const { answer, ...delay } = await retryUntilAvailable(send);
      this.delay = delay;
      return answer;
    });
    this.url = new OAuthClient(client, client.redirect_uri, () => undefined).authorizationUrl(authorizeUrl);
  }

  /** Logs in and clicks Allow if necessary. @returns the code */
  async allow(): Promise<string> {
    return codeOf(303, await this.browser.allow(this.url, this.user));
  }

  /** @throws Error if the authorization URL does not redirect to the application */
  async code(): Promise<{ code: string; visit: Delay }> {
    const answer = await this.browser.get(this.url);
    const code = codeOf(answer.status, new URL(answer.headers['location'] ?? '', this.url));
    return { code, visit: this.delay };
  }
}

function codeOf(status: number, { pathname, searchParams }: URL): string {
  const code = searchParams.get('code');
  if (code === null) throw new Error(`no code: ${status} ${pathname}`);
  return code;
}

export class ReadinessWatch {
  readonly missing = new Set<string>();
  private stopped = false;
  private readonly loops: Promise<void>[];

  constructor(apps: readonly AppProcess[]) {
    this.loops = apps.map((app) => this.watch(app));
  }

  async end(): Promise<void> {
    this.stopped = true;
    await Promise.all(this.loops);
  }

  private async watch(app: AppProcess): Promise<void> {
    for (; !this.stopped; await sleep(100)) {
      // Ignores an app that does not respond, which other tests cover.
      const missing = await app.missing().catch(() => undefined);
      missing?.forEach((name) => this.missing.add(name));
    }
  }
}

export async function untilReady(apps: readonly AppProcess[], withinMs: number): Promise<void> {
  await until('every app is ready', withinMs, async () => {
    const answers = await Promise.all(apps.map(({ internalUrl }) => fetch(`${internalUrl}/readyz`)));
    return answers.every(({ ok }) => ok);
  });
}
