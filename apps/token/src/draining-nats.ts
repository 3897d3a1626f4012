import type { NatsConnection, Subscription } from '@nats-io/transport-node';
import { ServerNats } from '@nestjs/microservices';

/** Who asks over NATS waits 2 s, and gives up. */
const DRAIN_WITHIN_MS = 3_000;

interface Reply {
  readonly isDisposed?: boolean;
  readonly err?: unknown;
}

/**
 * Nest's answers over NATS, with an end that loses none: a request that was handed to this copy is handed to no other. Its
 * own `gracefulShutdown` forgets what is on its way and waits for a fixed time.
 */
export class DrainingNats extends ServerNats {
  readonly #subscriptions: Subscription[] = [];
  readonly #underWay = new Set<object>();
  #answered: () => void = () => undefined;

  override bindEvents(client: NatsConnection): void {
    super.bindEvents({
      subscribe: (...about: Parameters<NatsConnection['subscribe']>) => {
        const subscription = client.subscribe(...about);
        this.#subscriptions.push(subscription);
        return subscription;
      },
    });
  }

  override async handleMessage(channel: string, message: object): Promise<unknown> {
    this.#underWay.add(message);
    return super.handleMessage(channel, message) as Promise<unknown>;
  }

  override getPublisher(
    ...about: Parameters<ServerNats['getPublisher']>
  ): ReturnType<ServerNats['getPublisher']> {
    const [message] = about as [object, ...unknown[]];
    const publish = super.getPublisher(...about);
    return (reply: Reply) => {
      publish(reply);
      if (!reply.isDisposed && reply.err === undefined) return;
      this.#underWay.delete(message);
      if (this.#underWay.size === 0) this.#answered();
    };
  }

  override async close(): Promise<void> {
    let late: NodeJS.Timeout | undefined;
    const over = new Promise<void>((resolve) => (late = setTimeout(resolve, DRAIN_WITHIN_MS)));
    await Promise.race([this.#drained().catch(() => undefined), over]);
    clearTimeout(late);
    await super.close();
  }

  async #drained(): Promise<void> {
    // Resolves when the server knows, and all that it had sent until then is here.
    await Promise.all(this.#subscriptions.map((subscription) => subscription.drain()));
    if (this.#underWay.size > 0) await new Promise<void>((resolve) => (this.#answered = resolve));
    await this.unwrap<NatsConnection>().flush();
  }
}
