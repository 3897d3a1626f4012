import type { AppProcess } from '#test/support/app-process.js';
import { type Case, load, type Timing } from './load.js';
import { perRequest, type Usage, usageOf } from './usage.js';

/** What a kind of request costs. */
export interface Figures {
  readonly name: string;
  /** One request at a time. */
  readonly alone: Timing;
  /** As many as the machine manages. */
  readonly busy: Timing;
  /** Milliseconds of CPU a request, by process. */
  readonly cpu: Readonly<Record<string, number>>;
  /** Round trips a request, by server. */
  readonly calls: Readonly<Record<string, number>>;
  readonly memory: Usage['memory'];
}

export const CONNECTIONS = 16;
/** Each connection draws a request that it never sends. */
const SPARE = 2 * CONNECTIONS + 4;

/** Warms up, then measures alone, then busy. @param seconds of the busy part, where there are requests enough */
export async function measure(subject: Case, apps: readonly AppProcess[], seconds: number): Promise<Figures> {
  const most = subject.most?.() ?? Infinity;
  const isEndless = most === Infinity;
  const [warm, single] = [Math.floor(most * 0.2), isEndless ? 300 : Math.floor(most * 0.1)];
  // Compilers of V8 need some thousand requests until a path is as fast as it gets.
  await load(subject, CONNECTIONS, isEndless ? { seconds: seconds / 2 } : { amount: warm });
  const alone = await load(subject, 1, { amount: single });
  const before = await usageOf(apps);
  const left = most - warm - single - SPARE;
  const busy = await load(subject, CONNECTIONS, isEndless ? { seconds } : { amount: left });
  const after = await usageOf(apps);
  return {
    name: subject.name,
    alone,
    busy,
    cpu: perRequest(before.cpu, after.cpu, busy.requests),
    calls: perRequest(before.calls, after.calls, busy.requests),
    memory: after.memory,
  };
}
