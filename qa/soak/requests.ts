import { setTimeout as sleep } from 'node:timers/promises';
import { parseObject } from '#local/demo/exchange.js';
import type { Installation } from './installation.js';
import type { Random } from './plan.js';
import {
  APP_BY_OPERATION,
  type ClientOperation,
  type Operation,
  type ServedBy,
  type Timeline,
} from './timeline.js';

/** Much shorter than the retry window. */
const CLIENT_TIMEOUT_MS = 8_000;

/** Times are milliseconds since the soak began. */
export interface Attempt {
  readonly operation: Operation;
  readonly servedBy: ServedBy;
  readonly sentAt: number;
  readonly answeredAt: number;
  /** 0 without a response. */
  readonly status: number;
  readonly headers: Headers;
  /** Body, or the reason for a missing response. */
  readonly text: string;
  /** False if no server can have received the request. */
  readonly mayHaveTakenEffect: boolean;
}

interface RequestMessage {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly form?: Readonly<Record<string, string>>;
}

/** Builds a new message for each attempt, because a DPoP proof is accepted once. */
export type BuildRequest = () => RequestMessage | Promise<RequestMessage>;

/** Thrown by a retry after the end of the soak. */
export class SoakEnded extends Error {}

/** Alternates between the replicas of an app, like a load balancer without retries. */
export class Requests {
  private turn = 0;

  constructor(
    private readonly installation: Installation,
    private readonly timeline: Timeline,
    private readonly random: Random,
    private readonly record: (attempt: Attempt) => void,
    private readonly hasEnded: () => boolean,
  ) {}

  /** Sends a request. Never throws for a failed request. */
  async send(operation: ClientOperation, buildRequest: BuildRequest): Promise<Attempt> {
    const all = this.installation.replicasOf(APP_BY_OPERATION[operation]);
    const inService = all.filter((replica) => replica.inService);
    const replicas = inService.length > 0 ? inService : all;
    const replica = replicas[this.turn++ % replicas.length];
    if (!replica) throw new Error(`no app serves the operation: ${operation}`);
    const { path, headers, form } = await buildRequest();
    const sentAt = this.timeline.now();
    let outcome: Pick<Attempt, 'status' | 'headers' | 'text' | 'mayHaveTakenEffect'>;
    try {
      const answer = await fetch(`${replica.url}${path}`, {
        redirect: 'manual',
        signal: AbortSignal.timeout(CLIENT_TIMEOUT_MS),
        ...(headers && { headers }),
        ...(form && { method: 'POST', body: new URLSearchParams(form) }),
      });
      const text = await answer.text();
      outcome = { status: answer.status, headers: answer.headers, text, mayHaveTakenEffect: true };
    } catch (error) {
      const text = reasonOf(error);
      const mayHaveTakenEffect = text !== 'ECONNREFUSED';
      outcome = { status: 0, headers: new Headers(), text, mayHaveTakenEffect };
    }
    const answeredAt = this.timeline.now();
    const attempt = { operation, servedBy: replica.name, sentAt, answeredAt, ...outcome };
    this.record(attempt);
    return attempt;
  }

  /**
   * Retries after a 503 or a missing response.
   *
   * @param attempts receives every attempt
   * @param stopWhen returns true to stop the retries
   * @throws SoakEnded
   */
  async sendUntilAnswered(
    operation: ClientOperation,
    buildRequest: BuildRequest,
    attempts: Attempt[] = [],
    stopWhen: () => boolean = () => false,
  ): Promise<Attempt> {
    for (;;) {
      const attempt = await this.send(operation, buildRequest);
      attempts.push(attempt);
      if (!isUnavailable(attempt) || stopWhen()) return attempt;
      if (this.hasEnded()) throw new SoakEnded();
      // Most clients wait as `Retry-After` says. Some do not.
      const seconds = this.random.chance(3 / 4) ? Number(attempt.headers.get('Retry-After') ?? 0) : 0;
      await sleep(seconds * 1_000 + this.random.between(100, 400));
    }
  }
}

/** Returns true if the client cannot determine whether the request took effect. */
export function isUnavailable({ status }: Attempt): boolean {
  return status === 503 || status === 0;
}

/** Returns true if the service says that the code may have been used and the user must authorize again. */
export function isUnconfirmed({ status, text }: Attempt): boolean {
  return status === 503 && String(parseObject(text)['error_uri']).endsWith('#request_unconfirmed');
}

function reasonOf(error: unknown): string {
  const { name, cause } = error as Error & { cause?: { code?: string; message?: string } };
  if (name === 'TimeoutError') return `no answer within ${CLIENT_TIMEOUT_MS / 1000} s`;
  return cause?.code ?? cause?.message ?? String(error);
}
