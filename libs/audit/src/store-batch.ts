import { randomBytes } from 'node:crypto';
import { headers, type Msg, type NatsConnection } from '@nats-io/transport-node';
import { PubHeaders } from '@nats-io/jetstream';
import { messageOf } from '#platform/errors.js';

/** Message with one event per line, identified by the id of the first event. */
export interface AuditMessage {
  readonly id: string;
  readonly subject: string;
  readonly lines: readonly string[];
}

const CONFIRM_MS = 5_000;

/**
 * Waits for the confirmation of each message: if the leader of the stream changes, the latest confirmation does not
 * prove that earlier messages are stored. The client's own `publish` costs twice as much.
 * @param inboxPrefix prefix of the inboxes that this NATS user may subscribe to
 * @param disconnected ends the wait: no confirmation arrives after a reconnect
 * @returns the confirmed messages, the messages that are too large for this NATS, and the reason why the remaining
 * messages, which may be stored, are unconfirmed
 */
export async function storeBatch(
  nats: NatsConnection,
  batch: readonly AuditMessage[],
  { inboxPrefix, disconnected }: { readonly inboxPrefix: string; readonly disconnected: AbortSignal },
): Promise<{
  stored: ReadonlySet<AuditMessage>;
  tooLarge: ReadonlySet<AuditMessage>;
  failure: string;
}> {
  // Random: a publisher that knew the inbox could use it as another event's reply subject and forge a confirmation.
  const inbox = `${inboxPrefix}.${randomBytes(18).toString('base64url')}`;
  const stored = new Set<AuditMessage>();
  const tooLarge = new Set<AuditMessage>();
  // NATS 2.9 does not report a missing stream to another account.
  let failure = 'no confirmation from NATS; does the stream exist?';
  await new Promise<void>((resolve) => {
    let answers = 0;
    const subscription = nats.subscribe(`${inbox}.*`, {
      callback: (error, message) => {
        if (error) {
          failure = error.message;
          return end();
        }
        const refusal = refusalOf(message);
        const sent = batch[Number(message.subject.slice(inbox.length + 1))];
        if (refusal !== null) failure = refusal;
        else if (sent) stored.add(sent);
        answers += 1;
        endIfAnswered();
      },
    });
    const timer = setTimeout(end, CONFIRM_MS);
    timer.unref();
    disconnected.addEventListener('abort', end);
    function endIfAnswered(): void {
      if (answers + tooLarge.size === batch.length) end();
    }
    function end(): void {
      clearTimeout(timer);
      disconnected.removeEventListener('abort', end);
      subscription.unsubscribe();
      resolve();
    }
    for (const [index, message] of batch.entries()) {
      const header = headers();
      header.set(PubHeaders.MsgIdHdr, message.id);
      const options = { headers: header, reply: `${inbox}.${index}` };
      try {
        nats.publish(message.subject, message.lines.join('\n'), options);
      } catch (error) {
        // The client enforces the server's limit. An uncaught error would end the process.
        failure = messageOf(error);
        if (nats.isClosed()) return end();
        tooLarge.add(message);
      }
    }
    endIfAnswered();
  });
  return { stored, tooLarge, failure };
}

function refusalOf(message: Msg): string | null {
  if (message.headers?.code === 503) return 'the stream does not exist, or JetStream is off';
  const answer = message.string();
  // Parsing each confirmation costs more than sending its event.
  if (answer.startsWith('{"stream":')) return null;
  try {
    const { error } = JSON.parse(answer) as { error?: { description?: string } };
    return error ? (error.description ?? 'refused') : null;
  } catch {
    return 'the confirmation is not JSON';
  }
}
