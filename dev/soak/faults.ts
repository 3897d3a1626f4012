import { setTimeout as sleep } from 'node:timers/promises';
import type { Availability } from './availability.js';
import type { AppCopy, Installation } from './installation.js';
import { type Fault, isApp, nameOf, type Server, type Step } from './plan.js';
import type { Happening, Timeline } from './timeline.js';
import type { Violate } from './violations.js';

/** For how long a balancer has left a copy before it is told to end; Kubernetes is given five seconds. */
const LEFT_MS = 200;

/** Carries out a plan. */
export class Faults {
  constructor(
    private readonly installation: Installation,
    private readonly timeline: Timeline,
    private readonly availability: Availability,
    private readonly violate: Violate,
    private readonly over: () => boolean,
  ) {}

  /** Resolves when the faults are over, and everything that they made fail is answered again. */
  async carryOut({ faults, lastsMs }: Step): Promise<void> {
    const happenings: Happening[] = [];
    for (const fault of faults) {
      happenings.push(this.timeline.begin(fault));
      await this.begin(fault);
    }
    await sleep(lastsMs);
    for (const happening of happenings) {
      await this.end(happening.fault, () => (happening.endedAt = this.timeline.now()));
    }
    await Promise.all(this.installation.copies.map((copy) => copy.ready())).catch((error: Error) =>
      this.violate({
        rule: 'every process is ready again within a minute',
        what: error.message,
        from: happenings[0]?.beganAt ?? 0,
        timed: true,
      }),
    );
    for (const { name } of this.installation.copies) this.inService(name, true);
    for (const happening of happenings)
      happening.settledAt = this.timeline.now() + happening.fault.kind.settlesMs;
    await this.availability.recovered(happenings, this.over);
  }

  private async begin(fault: Fault): Promise<void> {
    const { target, what } = fault.kind;
    if (isApp(target)) {
      await Promise.all(this.copiesOf(fault).map((copy) => this.beginAt(copy, fault)));
      return;
    }
    const server = this.installation.servers[target];
    switch (what) {
      case 'stopped':
        return server.signal('SIGSTOP');
      case 'cut off':
        for (const line of this.linesOf(fault)) {
          line.down = true;
          line.cut();
        }
        return;
      case 'half-open':
        for (const line of this.linesOf(fault)) {
          line.deaf = true;
          line.silence();
        }
        return;
      case 'emptied':
        await server.kill();
        return server.empty();
      default:
        return server.kill();
    }
  }

  private async beginAt(copy: AppCopy, { kind }: Fault): Promise<void> {
    switch (kind.what) {
      case 'stopped':
        return copy.signal('SIGSTOP');
      case 'restarted': {
        this.inService(copy.name, false);
        await sleep(LEFT_MS);
        const from = this.timeline.now();
        const how = await copy.terminate();
        if (how === 'exit code 0') return;
        return this.violate({
          rule: 'a process ends by itself when it is told to',
          what: `${copy.name}: ${how}`,
          from,
          timed: true,
        });
      }
      default:
        return copy.kill();
    }
  }

  /** @param undone called when what was done is undone, as far as we can do that */
  private async end(fault: Fault, undone: () => void): Promise<void> {
    const { target, what } = fault.kind;
    if (isApp(target)) {
      for (const copy of this.copiesOf(fault))
        if (what === 'stopped') copy.signal('SIGCONT');
        else await copy.launch();
      return undone();
    }
    const server = this.installation.servers[target];
    if (what === 'stopped') await server.signal('SIGCONT');
    else if (what === 'cut off' || what === 'half-open')
      for (const line of this.linesOf(fault)) Object.assign(line, { down: false, deaf: false });
    else {
      await server.start();
      // It may listen at another port.
      for (const { lines } of this.installation.copies) if (lines[target]) lines[target].target = server.url;
    }
    undone();
  }

  private copiesOf({ kind, copy }: Fault): AppCopy[] {
    return this.installation.copies.filter(({ name, app }) =>
      copy === null ? app === kind.target : name === copy,
    );
  }

  private linesOf({ kind, copy }: Fault) {
    return this.installation.copies
      .filter(({ name }) => copy === null || copy === name)
      .flatMap(({ lines }) => lines[kind.target as Server] ?? []);
  }

  private inService(name: string, inService: boolean): void {
    for (const copy of this.installation.copies) if (copy.name === name) copy.inService = inService;
  }

  /** In words, for the progress line. */
  static describe({ faults, lastsMs }: Step): string {
    const names = faults.map(({ kind, copy }) => `${nameOf(kind)}${copy ? ` (${copy})` : ''}`);
    return `${names.join(' and ')} for ${(lastsMs / 1000).toFixed(1)} s`;
  }
}
