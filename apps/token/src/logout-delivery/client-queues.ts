const CONCURRENCY = 2;
/** Maximum number of waiting messages of one client. */
const MAX_WAITING = 20;
/** Maximum number of messages of all clients that wait or are in progress. */
const MAX_HELD = 1_000;

interface ClientQueue<M> {
  active: number;
  readonly waiting: { readonly message: M; readonly work: () => Promise<void> }[];
}

/**
 * Runs the work of each client separately, so that a slow client does not delay others. Holds a limited number of
 * messages.
 */
export class ClientQueues<M> {
  readonly held = new Set<M>();
  private readonly queues = new Map<string, ClientQueue<M>>();
  private readonly active = new Set<Promise<void>>();
  private isClosed = false;

  get room(): number {
    return MAX_HELD - this.held.size;
  }

  /** @returns false if the queue of the client is full or `close` was called */
  add(clientId: string, message: M, work: () => Promise<void>): boolean {
    const queue = this.queues.get(clientId) ?? { active: 0, waiting: [] };
    if (this.isClosed || queue.waiting.length >= MAX_WAITING) return false;
    this.queues.set(clientId, queue);
    this.held.add(message);
    queue.waiting.push({ message, work });
    this.start(clientId, queue);
    return true;
  }

  /** Waits for the work in progress. @returns messages whose work has not begun */
  async close(): Promise<M[]> {
    this.isClosed = true;
    const waiting = [...this.queues.values()].flatMap((queue) => queue.waiting.splice(0));
    await Promise.all(this.active);
    return waiting.map(({ message }) => message);
  }

  private start(clientId: string, queue: ClientQueue<M>): void {
    while (queue.active < CONCURRENCY) {
      const next = queue.waiting.shift();
      if (!next) break;
      queue.active += 1;
      const done = next.work().finally(() => {
        queue.active -= 1;
        this.held.delete(next.message);
        this.active.delete(done);
        this.start(clientId, queue);
      });
      this.active.add(done);
    }
    if (queue.active === 0 && queue.waiting.length === 0) this.queues.delete(clientId);
  }
}
