import { tracingChannel } from 'node:diagnostics_channel';
import type { Msg, NatsConnection, Status, Subscription } from '@nats-io/transport-node';
import { type MessageHandler, NatsContext, ServerNats } from '@nestjs/microservices';
import { lastValueFrom } from 'rxjs';
import { isRequest } from '#messaging/contract.js';
import {
  expectsReply,
  MalformedMessageError,
  MalformedMessageLog,
  type NatsRequest,
  readRequest,
} from '#messaging/nats-message.js';

/** Channel for metrics and traces, which does not receive the payloads of requests. */
const RESPONSES = tracingChannel<unknown, object>('scheduling-oauth:nats-response');

const ERROR_INTERVAL_MS = 10_000;

type Reply = { readonly response: unknown } | { readonly err: unknown };

/**
 * Nest's NATS server with a graceful shutdown. NATS delivers a request to only one process of a queue group, so this
 * process must answer requests in flight, which Nest's own `gracefulShutdown` ignores. Rejects malformed messages,
 * which Nest would treat as events or log with a stack trace. Limits the log of errors that requesters can cause.
 */
export class GracefulNatsServer extends ServerNats {
  private readonly queueSubscriptions: Subscription[] = [];
  private readonly malformed = new MalformedMessageLog();
  private inFlight = 0;
  private onIdle: () => void = () => undefined;

  /** @param timeoutMs milliseconds that callers wait for a response */
  constructor(
    options: ConstructorParameters<typeof ServerNats>[0],
    private readonly timeoutMs: number,
  ) {
    super(options);
  }

  override bindEvents(client: NatsConnection): void {
    super.bindEvents({
      subscribe: (...args: Parameters<NatsConnection['subscribe']>) => {
        const subscription = client.subscribe(...args);
        this.queueSubscriptions.push(subscription);
        return subscription;
      },
    });
  }

  override handleStatusUpdates(client: Pick<NatsConnection, 'status'>): Promise<void> {
    return super.handleStatusUpdates({ status: () => throttleErrors(client.status()) });
  }

  override async handleMessage(subject: string, message: Msg): Promise<void> {
    const request = this.read(subject, message);
    const handler = this.getHandlerByPattern(subject);
    if (!request || !handler) return;
    this.inFlight += 1;
    try {
      const context = new NatsContext([subject, message.headers]);
      respond(message, request.id, await this.answer(handler, request.data, context));
    } finally {
      this.inFlight -= 1;
      if (this.inFlight === 0) this.onIdle();
    }
  }

  override async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise<void>((resolve) => (timer = setTimeout(resolve, this.timeoutMs + 1_000)));
    await Promise.race([this.finish().catch(() => undefined), deadline]);
    clearTimeout(timer);
    await super.close();
  }

  private read(subject: string, message: Msg): NatsRequest | null {
    try {
      return readRequest(message, (data) => isRequest(subject, data));
    } catch (error) {
      if (!(error instanceof MalformedMessageError)) throw error;
      this.malformed.warn(subject, message, error);
      respond(message, error.id, {
        err: { status: 'error', message: `malformed request: ${error.message}` },
      });
      return null;
    }
  }

  /** Nest has already logged a responder's error and made it safe to send. */
  private async answer(handler: MessageHandler, data: unknown, context: NatsContext): Promise<Reply> {
    try {
      const call = { subject: context.getSubject(), headers: context.getHeaders() as unknown };
      const response = await RESPONSES.tracePromise(
        async () => lastValueFrom(this.transformToObservable(await handler(data, context))),
        call,
      );
      return { response };
    } catch (err) {
      return { err };
    }
  }

  private async finish(): Promise<void> {
    // Resolves once NATS has removed the subscriptions and has delivered all messages that it had accepted for them.
    await Promise.all(this.queueSubscriptions.map((subscription) => subscription.drain()));
    if (this.inFlight > 0) await new Promise<void>((resolve) => (this.onIdle = resolve));
    await this.unwrap<NatsConnection>().flush();
  }
}

/** Limits errors: NATS reports each reply to a forbidden subject, and the requester chooses the subject. */
async function* throttleErrors(statuses: AsyncIterable<Status>): AsyncGenerator<Status> {
  let reportedAt = -Infinity;
  for await (const status of statuses) {
    const now = performance.now();
    if (status.type === 'error' && now - reportedAt < ERROR_INTERVAL_MS) continue;
    if (status.type === 'error') reportedAt = now;
    yield status;
  }
}

function respond(message: Msg, id: string | undefined, reply: Reply): void {
  if (expectsReply(message)) message.respond(JSON.stringify({ ...reply, isDisposed: true, id }));
}
