import { Cluster, type Command, type Redis } from 'ioredis';

type Sent = Parameters<Redis['sendCommand']>[0];

/** Shares of the timeout: a script may start in the first seven eighths; the last eighth is for its reply. */
const START_SHARE = 7 / 8;
/** The clocks of two machines drift apart by less than this rate, because NTP corrects at most 0.05 %. */
const DRIFT = 0.001;
const SAMPLE_INTERVAL_MS = 1_000;
/** Error code of a script that has changed nothing. */
export const LATE = 'LATE';
/** Marks an argument that is a local time, and is replaced by the server's time when the command is written. */
const LOCAL_TIME = '@';

/**
 * Lower bound of the difference between a server's clock and the local monotonic clock. A process that adds the bound
 * to a local time gets a server time that is never later. Times are in milliseconds.
 */
export class ServerClock {
  private offset = -Infinity;
  private learnedAt = 0;

  /** @param server time that the server read between `sentAt` and `receivedAt` */
  learn(server: number, sentAt: number, receivedAt: number): void {
    // A server time below the bound means that the server's clock was set back.
    this.offset = Math.min(Math.max(this.bound(receivedAt), server - receivedAt), server - sentAt);
    this.learnedAt = receivedAt;
  }

  /** Returns a server time that is not later than the local time. */
  at(local: number, now: number): number {
    return Math.floor(local + this.bound(now));
  }

  private bound(now: number): number {
    return this.offset - DRIFT * (now - this.learnedAt);
  }
}

/**
 * Lua that ends a script unless it starts between the call and the deadline. A script starts late if it waited at a
 * stopped server, and early if the server's clock was set back. The caller may have given up, so the script must not
 * change anything (docs/adr/0043-deadlines-of-scripts.md). Defines `server_now` in milliseconds.
 */
export function checkDeadline(timeoutMs: number): string {
  return `
local time = redis.call('TIME')
local server_now = time[1] * 1000 + math.floor(time[2] / 1000)
if server_now > tonumber(ARGV[1]) or server_now < ARGV[1] - ${Math.ceil(timeoutMs * START_SHARE)} then
  return redis.error_reply('${LATE} the script did not start in time, and has changed nothing')
end
`;
}

/** Returns the deadline of a script that is called now. `addDeadlines` replaces it by the time of the server. */
export function deadlineOf(timeoutMs: number): string {
  return `${LOCAL_TIME}${performance.now() + timeoutMs * START_SHARE}`;
}

const clients = new WeakSet<Redis | Cluster>();
/** Local times. A cluster may redirect a command to another node after its argument was replaced. */
const deadlines = new WeakMap<Sent, number>();

/**
 * Makes the client replace the deadlines of scripts by times of the server that executes the script. The client reads
 * the clock of each server after it connects, and then every second. A script waits until the clock is known.
 */
export function addDeadlines(redis: Redis | Cluster): void {
  if (clients.has(redis)) return;
  clients.add(redis);
  if (!(redis instanceof Cluster)) return DeadlineConnection.extend(redis);
  for (const node of redis.nodes()) DeadlineConnection.extend(node);
  redis.on('+node', (node: Redis) => DeadlineConnection.extend(node));
}

/** Extends the connection to one server. */
class DeadlineConnection {
  /** By connection, because a server that is reached again may have another clock. */
  private readonly clocks = new WeakMap<object, ServerClock>();
  /** Connection whose clock is being read. */
  private sampling: object | undefined;
  private waiting: Sent[] = [];
  private readonly send: Redis['sendCommand'];

  private constructor(private readonly node: Redis) {
    this.send = node.sendCommand.bind(node);
  }

  static extend(node: Redis): void {
    const connection = new DeadlineConnection(node);
    node.sendCommand = (command, stream) => connection.sendInTime(command, stream);
    const timer = setInterval(() => void connection.sample(), SAMPLE_INTERVAL_MS).unref();
    node.on('ready', () => void connection.sample());
    node.on('close', () => connection.onClose());
    node.on('end', () => clearInterval(timer));
    void connection.sample();
  }

  private sendInTime(command: Sent, stream: Parameters<Redis['sendCommand']>[1]): unknown {
    // The driver would also send commands that timed out while they waited for the connection.
    if (command.isSettled) return command.promise;
    const deadline = deadlines.get(command) ?? deadlineIn(command);
    if (deadline === undefined || this.node.status !== 'ready') return this.send(command, stream);
    const clock = this.clocks.get(this.node.stream);
    if (!clock) return this.wait(command);
    deadlines.set(command, deadline);
    command.args[placeOfDeadline(command)] = String(clock.at(deadline, performance.now()));
    return this.send(command, stream);
  }

  private wait(command: Sent): unknown {
    if (this.node.options.commandTimeout !== undefined) command.setTimeout(this.node.options.commandTimeout);
    this.waiting.push(command);
    void this.sample();
    return command.promise;
  }

  private async sample(): Promise<void> {
    const { stream, status } = this.node;
    if (status !== 'ready' || this.sampling === stream) return;
    this.sampling = stream;
    const sentAt = performance.now();
    try {
      const [seconds, microseconds] = await this.node.time();
      this.learn(stream, Number(seconds) * 1000 + Number(microseconds) / 1000, sentAt);
    } catch {
      // The next sample will be taken in a second. Until then, scripts use the earlier samples, or wait.
    } finally {
      if (this.sampling === stream) this.sampling = undefined;
    }
  }

  private learn(stream: object, server: number, sentAt: number): void {
    const clock = this.clocks.get(stream) ?? new ServerClock();
    this.clocks.set(stream, clock);
    clock.learn(server, sentAt, performance.now());
    const waiting = this.waiting.splice(0);
    for (const command of waiting) this.node.sendCommand(command);
  }

  private onClose(): void {
    for (const command of this.waiting.splice(0)) command.reject(new Error('the connection was closed'));
  }
}

/** `EVALSHA sha number-of-keys key… deadline …`. */
function placeOfDeadline({ args }: Pick<Command, 'args'>): number {
  return 2 + Number(args[1]);
}

function deadlineIn(command: Sent): number | undefined {
  if (command.name !== 'evalsha') return undefined;
  const argument = command.args[placeOfDeadline(command)];
  const isLocal = typeof argument === 'string' && argument.startsWith(LOCAL_TIME);
  return isLocal ? Number(argument.slice(LOCAL_TIME.length)) : undefined;
}
