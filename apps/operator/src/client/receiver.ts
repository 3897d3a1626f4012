import type { ReceiverDto } from '#events/operations/receiver.dto.js';
import type { EventStreamService, StreamView } from '#events/operations/event-stream.service.js';
import type { Change } from '#operations/audit-trail.js';
import type { Input } from '#operations/operation-input.js';
import { actor, warnOf } from '../command-line/change.js';
import { choice } from '../command-line/flags.js';
import type { OperatorCommand } from '../command-line/operator-command.js';
import { asText, warn } from '../command-line/output.js';
import { readSecretLine } from '../command-line/prompts.js';

export interface ReceiverOptions {
  readonly eventsUrl?: string;
  readonly events?: readonly string[];
  readonly eventsAuthorization?: 'stdin' | 'none';
}

export function withReceiverOptions(command: OperatorCommand): OperatorCommand {
  return command
    .option(
      '--events-url <url>',
      'address that gets security events of its users (docs/events.md); none removes it',
    )
    .option(
      '--events <events>',
      'with --events-url: the names of the events in docs/events.md, separated by spaces (default: all)',
      collectEvents,
    )
    .option(
      '--events-authorization <stdin|none>',
      'with --events-url: the header Authorization of each push, a line on stdin; none removes it',
      choice('--events-authorization', { stdin: 'stdin', none: 'none' }),
    );
}

function collectEvents(text: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, ...text.split(/[\s,]+/).filter((word) => word !== '')];
}

/** Returns undefined without these options, and null if the stream is to be deleted. */
export async function readReceiver({
  eventsUrl,
  events,
  eventsAuthorization: header,
}: ReceiverOptions): Promise<Input<ReceiverDto> | null | undefined> {
  if (eventsUrl === undefined && events === undefined && header === undefined) return undefined;
  if (eventsUrl === 'none') return null;
  return {
    eventsUrl,
    events,
    ...(header === 'none' && { eventsAuthorization: null }),
    ...(header === 'stdin' && {
      eventsAuthorization: await readSecretLine('--events-authorization stdin', 'the header'),
    }),
  };
}

/** Null if the options do not concern the stream. */
export type ReceiverChange = PromiseSettledResult<Change<StreamView | null>> | null;

/** Does not throw, so that the result of an earlier step, with a new secret, is printed first. */
export async function changeReceiver(
  streams: EventStreamService,
  clientId: string,
  receiver: Input<ReceiverDto> | null | undefined,
): Promise<ReceiverChange> {
  if (receiver === undefined) return null;
  const change =
    receiver === null
      ? streams.delete(actor(), clientId).then(({ announced }) => ({ result: null, announced }))
      : streams.register(actor(), clientId, receiver);
  const [settled] = await Promise.allSettled([change]);
  return settled;
}

/** @throws the error of the change */
export async function finishReceiver(change: ReceiverChange, clientId: string): Promise<void> {
  if (change?.status === 'rejected') {
    warn(`the receiver of events is not registered: repeat client update ${clientId} --events-url`);
    throw change.reason;
  }
  warnOf((await change?.value.announced) ?? []);
}

/** Adds the stream to the JSON of an application; null if it was deleted. */
export function withStream(client: object, change: ReceiverChange): object {
  return change?.status === 'fulfilled' ? { ...client, event_stream: change.value.result } : client;
}

/** Adds the stream to the text of an application. */
export function streamText(change: ReceiverChange): Record<string, string> {
  return change?.status === 'fulfilled' ? describedStream(change.value.result) : {};
}

export function describedStream(stream: StreamView | null): Record<string, string> {
  if (!stream) return {};
  const { events_url: url, events, status, status_reason: reason, failing_since: failing } = stream;
  return asText({
    events_url: url ?? 'none: the application polls',
    events,
    events_status: reason === null ? status : `${status} (${reason})`,
    ...(failing !== null && { events_failing_since: failing }),
  });
}
