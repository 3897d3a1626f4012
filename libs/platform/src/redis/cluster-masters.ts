import type { Cluster, Redis } from 'ioredis';

/** The masters of a Cluster, as its nodes tell: whether they serve, and when another one takes over. */
export class ClusterMasters {
  private known: ReadonlySet<string> = new Set();
  private readonly listeners = new Set<() => void>();

  constructor(private readonly cluster: Cluster) {
    cluster.on('refresh', () => this.learn());
    cluster.on('+node', (node: Redis) => this.follow(node));
    cluster.nodes().forEach((node) => this.follow(node));
    if (cluster.status === 'ready') this.learn();
  }

  /** Calls back whenever a node begins to serve slots: at start, after a fail-over, and when a master was away. */
  onChange(listener: () => void): void {
    this.listeners.add(listener);
  }

  /** Rejects while slots have no master that answers, in its own opinion and in the others'. */
  async check(): Promise<void> {
    if (this.known.size === 0) throw new Error('no node of the Cluster was reached yet');
    const nodes = new Map(this.cluster.nodes('master').map((node) => [keyOf(node), node]));
    const answers = await Promise.all(
      [...this.known].map((key) => {
        const node = nodes.get(key);
        if (!node) throw new Error(`the master ${key} is not connected`);
        return node.cluster('INFO');
      }),
    );
    if (!answers.every((answer) => answer.includes('cluster_state:ok')))
      throw new Error('the Cluster says that slots are not served');
  }

  private follow(node: Redis): void {
    // A master that was away may have lost what it had not yet written.
    node.on('ready', () => this.known.has(keyOf(node)) && this.tell());
  }

  private learn(): void {
    const before = this.known;
    this.known = new Set(this.cluster.nodes('master').map(keyOf));
    if ([...this.known].some((key) => !before.has(key))) this.tell();
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }
}

function keyOf({ options }: Redis): string {
  return `${options.host}:${options.port}`;
}
