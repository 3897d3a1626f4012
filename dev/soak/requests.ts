import { setTimeout as sleep } from 'node:timers/promises';
import type { Installation } from './installation.js';
import type { App, Random } from './plan.js';
import type { Operation, Place, Timeline } from './timeline.js';

/** When a client gives a request up: well inside the retry window. */
const GIVES_UP_MS = 8_000;

/** One request and what came of it. Times are milliseconds since the soak began. */
export interface Try {
  readonly operation: Operation;
  readonly place: Place;
  readonly sentAt: number;
  readonly answeredAt: number;
  /** 0: no answer came. */
  readonly status: number;
  readonly headers: Headers;
  /** The body, or why there is no answer. */
  readonly text: string;
  /** Whether it may have been carried out. False when nobody can have received it. */
  readonly received: boolean;
}

interface Message {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly form?: Readonly<Record<string, string>>;
}

/** Makes a message for each try: a DPoP proof is good once. */
export type Compose = () => Message | Promise<Message>;

/** The soak is over: whoever waits for an answer stops. */
export class SoakOver extends Error {}

const APP_OF: Readonly<Record<Exclude<Operation, 'delete a client'>, App>> = {
  page: 'authorize',
  'log in': 'authorize',
  allow: 'authorize',
  'revoke at /auth/apps': 'authorize',
  'log out everywhere': 'authorize',
  redeem: 'token',
  refresh: 'token',
  revoke: 'token',
  introspect: 'token',
  me: 'resource',
  'me with DPoP': 'resource',
};

/** Sends requests to one copy of an app after the other, as a balancer does that repeats nothing. */
export class Requests {
  private turn = 0;

  constructor(
    private readonly installation: Installation,
    private readonly timeline: Timeline,
    private readonly random: Random,
    private readonly seen: (one: Try) => void,
    private readonly over: () => boolean,
  ) {}

  /** One request, come what may. */
  async once(operation: keyof typeof APP_OF, compose: Compose): Promise<Try> {
    const all = this.installation.copiesOf(APP_OF[operation]);
    const inService = all.filter((copy) => copy.inService);
    const copies = inService.length > 0 ? inService : all;
    const copy = copies[this.turn++ % copies.length];
    if (!copy) throw new Error(`nobody carries out: ${operation}`);
    const { path, headers, form } = await compose();
    const sentAt = this.timeline.now();
    const told = { operation, place: copy.name, sentAt };
    let one: Try;
    try {
      const answer = await fetch(`${copy.url}${path}`, {
        redirect: 'manual',
        signal: AbortSignal.timeout(GIVES_UP_MS),
        ...(headers && { headers }),
        ...(form && { method: 'POST', body: new URLSearchParams(form) }),
      });
      const text = await answer.text();
      const { status, headers: answered } = answer;
      one = { ...told, answeredAt: this.timeline.now(), status, headers: answered, text, received: true };
    } catch (error) {
      const reason = reasonOf(error);
      const answeredAt = this.timeline.now();
      const received = reason !== 'ECONNREFUSED';
      one = { ...told, answeredAt, status: 0, headers: new Headers(), text: reason, received };
    }
    this.seen(one);
    return one;
  }

  /**
   * As a well-made client does: what got no answer, or 503, is asked again, of the next copy, until it is answered.
   *
   * @param tries all of them are added, in the order of their answers
   * @param enough whether it has become needless; then the last try is returned, whatever it was
   * @throws SoakOver when the soak is over
   */
  async patiently(
    operation: keyof typeof APP_OF,
    compose: Compose,
    tries: Try[] = [],
    enough: () => boolean = () => false,
  ): Promise<Try> {
    for (;;) {
      const one = await this.once(operation, compose);
      tries.push(one);
      if (!isRefusal(one) || enough()) return one;
      if (this.over()) throw new SoakOver();
      await sleep(this.random.between(100, 400));
    }
  }
}

/** Whether a request was not carried out, as far as its client knows. */
export function isRefusal({ status }: Try): boolean {
  return status === 503 || status === 0;
}

function reasonOf(error: unknown): string {
  const { name, cause } = error as Error & { cause?: { code?: string; message?: string } };
  if (name === 'TimeoutError') return `no answer within ${GIVES_UP_MS / 1000} s`;
  return cause?.code ?? cause?.message ?? String(error);
}
