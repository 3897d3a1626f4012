import type { NatsConnection } from '@nats-io/transport-node';
import { SUBJECTS } from '#introspection/contract.js';
import { parseServiceStatus, type ServiceStatus } from '#platform/status/service-status.js';
import { warn } from '../command-line/output.js';
import { withNats } from './nats.connection.js';

/** Ends the collection: no further answer for this time. A process takes at most half of it to read its status. */
const SILENCE_MS = 1_000;
/** Until the first answer. */
const FIRST_ANSWER_MS = 3_000;
const LIMIT_MS = 10_000;

/** A status, and when it was asked for and arrived, by the clock of this machine, in milliseconds since the epoch. */
export interface AnsweredStatus {
  readonly status: ServiceStatus;
  readonly askedAt: number;
  readonly answeredAt: number;
}

/**
 * Asks every running process of authorize, token and resource for its status. A process that does not answer is not in the
 * list: compare it with what is deployed.
 *
 * @returns by service and instance; empty if none runs
 * @throws Error if NATS does not answer
 */
export async function runningServices(natsUrl: string): Promise<ServiceStatus[]> {
  return (await askServices(natsUrl)).map(({ status }) => status);
}

/** As runningServices, with the times, so that clocks can be compared. */
export async function askServices(natsUrl: string): Promise<AnsweredStatus[]> {
  let answers: AnsweredStatus[];
  try {
    answers = await withNats(natsUrl, collect, LIMIT_MS);
  } catch (cause) {
    throw new Error('NATS (NATS_URL) does not answer: the running services cannot be asked', { cause });
  }
  const nameOf = ({ status: { service, instance } }: AnsweredStatus) => `${service} ${instance}`;
  const byName = new Map(answers.map((answer) => [nameOf(answer), answer]));
  return [...byName].sort(([one], [other]) => one.localeCompare(other)).map(([, answer]) => answer);
}

async function collect(nats: NatsConnection): Promise<AnsweredStatus[]> {
  const options = { strategy: 'stall', stall: SILENCE_MS, maxWait: FIRST_ANSWER_MS } as const;
  const answers: AnsweredStatus[] = [];
  const askedAt = Date.now();
  for await (const message of await nats.requestMany(SUBJECTS.serviceStatus, '{}', options)) {
    // NATS itself says so, with an empty message, if nothing responds.
    if (message.data.length === 0) continue;
    try {
      answers.push({ status: parseServiceStatus(message.json()), askedAt, answeredAt: Date.now() });
    } catch {
      warn('a service answered with a status that this version cannot read');
    }
  }
  return answers;
}
