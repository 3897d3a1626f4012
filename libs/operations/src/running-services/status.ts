import { createInbox, type NatsConnection } from '@nats-io/transport-node';
import type { ServiceStatus } from '#platform/status/status-report.js';
import {
  parseServiceStatus,
  STATUS_SERVICES,
  statusInbox,
  statusSubject,
} from '#messaging/service-status.js';
import { processName } from '../wording.js';
import { AdministrationError } from '#platform/validation/administration.error.js';
import { warningText } from '../failure-text.js';
import { problem } from '#platform/validation/problem.js';
import type { RunningServices } from './running-services.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    services_unanswered: null;
    status_unreadable: { readonly service: string };
    token_times_unknown: null;
  }
}

/** Silence after which collection ends. A process takes at most half of this time to read its status. */
const SILENCE_MS = 1_000;
/** Shorter limit for settings, because a page waits for the settings. */
const SETTINGS_SILENCE_MS = 150;
const FIRST_ANSWER_MS = 3_000;
const LIMIT_MS = 10_000;

/** Times are in milliseconds since the epoch, by the clock of this machine. */
export interface AnsweredStatus {
  readonly status: ServiceStatus;
  readonly askedAt: number;
  readonly answeredAt: number;
}

export interface Answers {
  readonly answers: readonly AnsweredStatus[];
  readonly statuses: readonly ServiceStatus[];
  readonly warnings: readonly string[];
}

/** Times in seconds: the shortest if token processes differ, absent if no process reports the setting. */
export interface ServiceTimes {
  readonly codeLifetime?: number;
  readonly retryWindow?: number;
}

/** Returns a warning and no times if no token app answers. */
export async function serviceTimes(
  running: RunningServices,
): Promise<{ readonly times: ServiceTimes; readonly warnings: readonly string[] }> {
  const { statuses, warnings } = await askServices(running, ['token'], SETTINGS_SILENCE_MS).catch(() => ({
    statuses: [],
    warnings: [],
  }));
  const shortest = (variable: string): number | undefined => {
    const values = statuses.map(({ settings = {} }) => settings[variable]);
    const times = values.filter((value): value is number => Number.isInteger(value) && Number(value) >= 0);
    return times.length > 0 ? Math.min(...times) : undefined;
  };
  const [codeLifetime, retryWindow] = [shortest('CODE_LIFETIME'), shortest('RETRY_WINDOW')];
  const isUnknown = codeLifetime === undefined || retryWindow === undefined;
  return {
    times: {
      ...(codeLifetime !== undefined && { codeLifetime }),
      ...(retryWindow !== undefined && { retryWindow }),
    },
    warnings: [...warnings, ...(isUnknown ? [warningText(problem('token_times_unknown', []))] : [])],
  };
}

/**
 * Omits processes that do not answer: compare the list with the deployment.
 * @throws AdministrationError of the kind `unavailable`
 */
export async function askServices(
  running: RunningServices,
  services: readonly string[] = STATUS_SERVICES,
  silenceMs = SILENCE_MS,
): Promise<Answers> {
  const warnings: string[] = [];
  let received: AnsweredStatus[];
  try {
    received = await running.use(async (nats) => {
      const all = services.map((service) =>
        collect(nats, running.inboxPrefix, service, { silenceMs, warnings }),
      );
      return (await Promise.all(all)).flat();
    }, LIMIT_MS);
  } catch (cause) {
    throw new AdministrationError('unavailable', [problem('services_unanswered', [])], { cause });
  }
  const byName = new Map(received.map((answer) => [processName(answer.status), answer]));
  const answers = [...byName].sort(([a], [b]) => a.localeCompare(b)).map(([, answer]) => answer);
  return { answers, statuses: answers.map(({ status }) => status), warnings };
}

/** @param service the only service whose answers NATS permits in this inbox */
async function collect(
  nats: NatsConnection,
  inboxPrefix: string,
  service: string,
  { silenceMs, warnings }: { readonly silenceMs: number; readonly warnings: string[] },
): Promise<AnsweredStatus[]> {
  const answers: AnsweredStatus[] = [];
  const askedAt = Date.now();
  await new Promise<void>((resolve, reject) => {
    const inbox = createInbox(statusInbox(inboxPrefix, service));
    const end = (error?: Error): void => {
      clearTimeout(timer);
      subscription.unsubscribe();
      if (error) reject(error);
      else resolve();
    };
    const subscription = nats.subscribe(inbox, {
      callback: (error, message) => {
        // NATS sends an empty message for a subject without subscribers.
        if (error || message.data.length === 0) return end(error ?? undefined);
        clearTimeout(timer);
        timer = setTimeout(end, silenceMs);
        try {
          const status = parseServiceStatus(message.json());
          if (status.service !== service) throw new Error('it is of another service');
          answers.push({ status, askedAt, answeredAt: Date.now() });
        } catch {
          warnings.push(warningText(problem('status_unreadable', [], { service })));
        }
      },
    });
    let timer = setTimeout(end, FIRST_ANSWER_MS);
    nats.publish(statusSubject(service), '{}', { reply: inbox });
  });
  return answers;
}
