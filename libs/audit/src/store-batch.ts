import { randomBytes } from 'node:crypto';
import { headers, type Msg, type NatsConnection } from '@nats-io/transport-node';
import { PubHeaders } from '@nats-io/jetstream';
import type { AuditMessage } from './event-buffer.js';

/** How long NATS has to confirm a batch, in milliseconds. */
const CONFIRM_MS = 5_000;

/**
 * Publishes messages, and waits until NATS has confirmed each. The confirmation of the last alone would not prove the others, where
 * another server becomes the leader of the stream in between. The client's own `publish` costs twice as much.
 *
 * @param inboxPrefix under which this user of NATS may receive answers
 * @param disconnected ends the wait: no answer comes after a reconnect
 * @returns those that are confirmed, those that this NATS never takes because they are too large, and why the others are not
 *   confirmed; these may be stored all the same
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
  // Random, because a publisher that names this inbox as the reply subject of another event would forge a confirmation.
  const inbox = `${inboxPrefix}.${randomBytes(18).toString('base64url')}`;
  const stored = new Set<AuditMessage>();
  const tooLarge = new Set<AuditMessage>();
  // NATS 2.9 does not report a missing stream to another account.
  let failure = 'NATS confirms nothing; does the stream exist?';
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
        // The client knows the limit of the server. Nobody would catch this: the process would end.
        failure = error instanceof Error ? error.message : String(error);
        if (nats.isClosed()) return end();
        tooLarge.add(message);
      }
    }
    endIfAnswered();
  });
  return { stored, tooLarge, failure };
}

/** Null for a confirmation. */
function refusalOf(message: Msg): string | null {
  if (message.headers?.code === 503) return 'there is no stream, or no JetStream';
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
