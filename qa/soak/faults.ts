import { setTimeout as sleep } from 'node:timers/promises';
import type { Availability } from './availability.js';
import type { AppReplica, Installation } from './installation.js';
import { type Fault, isApp, faultName, type Server, type Step } from './plan.js';
import type { FaultWindow, Timeline } from './timeline.js';
import type { Violate } from './violations.js';

/**
 * Delay between the removal of a replica from load balancing and SIGTERM. In Kubernetes, preStop waits five seconds.
 */
const LOAD_BALANCER_DELAY_MS = 200;

export class FaultInjector {
  constructor(
    private readonly installation: Installation,
    private readonly timeline: Timeline,
    private readonly availability: Availability,
    private readonly violate: Violate,
    private readonly hasEnded: () => boolean,
  ) {}

  /** Resolves after the recovery of every affected operation. */
  async inject({ faults, durationMs }: Step): Promise<void> {
    const faultWindows: FaultWindow[] = [];
    for (const fault of faults) {
      faultWindows.push(this.timeline.start(fault));
      await this.apply(fault);
    }
    await sleep(durationMs);
    for (const faultWindow of faultWindows) {
      await this.heal(faultWindow.fault);
      faultWindow.endedAt = this.timeline.now();
    }
    await Promise.all(this.installation.replicas.map((replica) => replica.ready())).catch((error: Error) =>
      this.violate({
        rule: 'every process is ready again within a minute',
        detail: error.message,
        since: faultWindows[0]?.startedAt ?? 0,
        timeDependent: true,
      }),
    );
    for (const { name } of this.installation.replicas) this.inService(name, true);
    for (const faultWindow of faultWindows)
      faultWindow.settledAt = this.timeline.now() + faultWindow.fault.kind.settleMs;
    await this.availability.waitForRecovery(faultWindows, this.hasEnded);
  }

  private async apply(fault: Fault): Promise<void> {
    const { target, effect } = fault.kind;
    if (isApp(target)) {
      await Promise.all(this.replicasOf(fault).map((replica) => this.applyTo(replica, fault)));
      return;
    }
    const server = this.installation.servers[target];
    switch (effect) {
      case 'stopped':
        return server.signal('SIGSTOP');
      case 'cut off':
        for (const proxy of this.proxiesOf(fault)) {
          proxy.disconnect();
        }
        return;
      case 'half-open':
        for (const proxy of this.proxiesOf(fault)) {
          proxy.silence('all');
        }
        return;
      case 'emptied':
        await server.kill();
        return server.empty();
      default:
        return server.kill();
    }
  }

  private async applyTo(replica: AppReplica, { kind }: Fault): Promise<void> {
    switch (kind.effect) {
      case 'stopped':
        return replica.signal('SIGSTOP');
      case 'restarted': {
        this.inService(replica.name, false);
        await sleep(LOAD_BALANCER_DELAY_MS);
        const since = this.timeline.now();
        const how = await replica.terminate();
        if (how === 'exit code 0') return;
        return this.violate({
          rule: 'a process exits with code 0 after SIGTERM',
          detail: `${replica.name}: ${how}`,
          since,
          timeDependent: true,
        });
      }
      default:
        return replica.kill();
    }
  }

  private async heal(fault: Fault): Promise<void> {
    const { target, effect } = fault.kind;
    if (isApp(target)) {
      for (const replica of this.replicasOf(fault))
        if (effect === 'stopped') replica.signal('SIGCONT');
        else await replica.launch();
      return;
    }
    const server = this.installation.servers[target];
    if (effect === 'stopped') await server.signal('SIGCONT');
    else if (effect === 'cut off' || effect === 'half-open')
      for (const proxy of this.proxiesOf(fault)) proxy.reconnect();
    else {
      await server.start();
      // PostgreSQL may listen on another port after the restart.
      for (const { proxies } of this.installation.replicas)
        if (proxies[target]) proxies[target].targets = [server.url];
    }
  }

  private replicasOf({ kind, replica }: Fault): AppReplica[] {
    return this.installation.replicas.filter(({ name, app }) =>
      replica === null ? app === kind.target : name === replica,
    );
  }

  private proxiesOf({ kind, replica }: Fault) {
    return this.installation.replicas
      .filter(({ name }) => replica === null || replica === name)
      .flatMap(({ proxies }) => proxies[kind.target as Server] ?? []);
  }

  private inService(name: string, inService: boolean): void {
    for (const replica of this.installation.replicas)
      if (replica.name === name) replica.inService = inService;
  }

  static describe({ faults, durationMs }: Step): string {
    const names = faults.map(({ kind, replica }) => `${faultName(kind)}${replica ? ` (${replica})` : ''}`);
    return `${names.join(' and ')} for ${(durationMs / 1000).toFixed(1)} s`;
  }
}
