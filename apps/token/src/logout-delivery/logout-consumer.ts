import { setTimeout as sleep } from 'node:timers/promises';
import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type BeforeApplicationShutdown,
} from '@nestjs/common';
import { jetstream, type JsMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import {
  ACK_WAIT_MS,
  LOGOUT_CONSUMERS,
  LOGOUT_STREAM,
  LOGOUT_SUBJECTS,
  parseLogoutDelivery,
  parseSessionsEnded,
  storeLogout,
} from '#messaging/logout/logout-queue.js';
import { ensureLogoutQueue, logoutQueueState } from '#messaging/logout/logout-stream.js';
import { MalformedMessageError } from '#messaging/nats-message.js';
import { connectUntil, natsOptions } from '#messaging/nats.connection.js';
import { SigningKeys } from '#oauth/openid/signing-keys.js';
import { messageOf } from '#platform/errors.js';
import type { LogoutQueueStatus } from '#platform/status/status-report.js';
import { TokenConfiguration } from '../token.configuration.js';
import { busyDelay } from './backoff.js';
import { ClientQueues } from './client-queues.js';
import { LogoutDeliveryService } from './logout-delivery.service.js';

const RETRY_MS = 1_000;
const FETCH = 100;
const FETCH_MS = 5_000;
const REPEAT_MS = 5_000;

/**
 * Consumes the queue of log-outs over a separate connection, to keep introspection fast. NATS redelivers a message,
 * perhaps to another token app, if this process reports no progress for ACK_WAIT_MS.
 */
@Injectable()
export class LogoutConsumer implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('logout');
  private readonly queues = new ClientQueues<JsMsg>();
  private nats: NatsConnection | undefined;
  private isClosed = false;
  private readonly progress = setInterval(() => {
    for (const message of this.queues.held) message.working();
  }, ACK_WAIT_MS / 3).unref();
  private running: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly deliveries: LogoutDeliveryService,
    private readonly keys: SigningKeys,
    private readonly configuration: TokenConfiguration,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.keys.isEmpty) void this.open();
  }

  /** Finishes the attempts that have begun, and returns the other messages to NATS. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isClosed = true;
    clearInterval(this.progress);
    for (const message of await this.queues.close()) message.nak();
    await this.nats?.drain().catch(() => undefined);
    await this.running;
  }

  /** @throws Error if NATS does not respond in time or the queue does not exist */
  async queueState(): Promise<LogoutQueueStatus> {
    if (!this.nats) throw new Error('NATS does not answer');
    return logoutQueueState(this.nats);
  }

  private async open(): Promise<void> {
    const options = natsOptions(this.configuration.auditUrl, 'token logout');
    const nats = await connectUntil(() => this.isClosed, options);
    if (!nats) return;
    this.nats = nats;
    await this.ensureQueue(nats);
    this.running = Promise.all([this.consumeEnded(nats), this.consumeDeliveries(nats)]);
  }

  /** Creates the queue at startup and after NATS has lost its data. No other app creates the queue. */
  private async ensureQueue(nats: NatsConnection): Promise<void> {
    for (let warned = false; !this.isClosed;) {
      try {
        return await ensureLogoutQueue(nats);
      } catch (error) {
        const reason = messageOf(error);
        if (!warned) this.logger.warn(`NATS has no queue of log-outs: ${reason}`);
        warned = true;
        await sleep(RETRY_MS, undefined, { ref: false });
      }
    }
  }

  private consumeEnded(nats: NatsConnection): Promise<void> {
    return this.consume(
      nats,
      LOGOUT_CONSUMERS.ended.name,
      () => FETCH,
      async (message) => {
        for (const delivery of await this.deliveries.deliveriesOf(parseSessionsEnded(message.json())))
          await storeLogout(nats, LOGOUT_SUBJECTS.delivery, delivery);
        message.ack();
      },
    );
  }

  private consumeDeliveries(nats: NatsConnection): Promise<void> {
    return this.consume(
      nats,
      LOGOUT_CONSUMERS.delivery.name,
      () => this.queues.room,
      async (message) => {
        const delivery = parseLogoutDelivery(message.json());
        const isQueued = this.queues.add(delivery.client_id, message, async () => {
          await this.handled(message, async () => {
            const delay = await this.deliveries.deliver(delivery, message.info.deliveryCount);
            if (delay === null) message.ack();
            else message.nak(delay);
          });
        });
        if (isQueued) return;
        // One slow client must not fill the memory of this process.
        if (this.deliveries.dropIfOverdue(delivery, message.info.deliveryCount)) message.ack();
        else message.nak(busyDelay(message.info.deliveryCount));
      },
    );
  }

  /** Handles messages until the shutdown. Fetches only as many messages as there is room for. */
  private async consume(
    nats: NatsConnection,
    name: string,
    room: () => number,
    handle: (message: JsMsg) => Promise<void>,
  ): Promise<void> {
    for (let warned = false; !this.isClosed;) {
      try {
        const count = Math.min(room(), FETCH);
        if (count === 0) {
          await sleep(50, undefined, { ref: false });
          continue;
        }
        const consumer = await jetstream(nats).consumers.get(LOGOUT_STREAM, name);
        const messages = await consumer.fetch({ max_messages: count, expires: FETCH_MS });
        for await (const message of messages) await this.handled(message, handle);
        warned = false;
      } catch (error) {
        if (this.isClosed) return;
        const reason = messageOf(error);
        if (!warned) this.logger.warn(`logout tokens wait for NATS (${name}): ${reason}`);
        warned = true;
        await sleep(RETRY_MS, undefined, { ref: false });
        await this.ensureQueue(nats);
      }
    }
  }

  private async handled(message: JsMsg, handle: (message: JsMsg) => Promise<void>): Promise<void> {
    try {
      await handle(message);
    } catch (error) {
      this.logger.error(`${message.subject}: ${messageOf(error)}`);
      // Another delivery would not make the message readable.
      if (error instanceof MalformedMessageError || error instanceof SyntaxError) message.term();
      else message.nak(REPEAT_MS);
    }
  }
}
