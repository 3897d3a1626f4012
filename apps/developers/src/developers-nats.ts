import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { NatsConnection } from '#messaging/nats.connection.js';
import type { NatsWork } from '#messaging/use-connection.js';
import { type NatsServer, OperatorNats } from '#operations/operator-nats.js';
import { DevelopersConfiguration } from './developers.configuration.js';

/** Connections of operations: the connection of the process, and one with the user of the audit trail. */
@Injectable()
export class DevelopersNats extends OperatorNats implements OnApplicationShutdown {
  private readonly connections: Readonly<Record<NatsServer, NatsConnection>>;

  constructor(services: NatsConnection, { auditUrl, dependencyTimeoutMs }: DevelopersConfiguration) {
    super();
    const options = {
      natsUrl: auditUrl,
      name: 'developers',
      timeoutMs: dependencyTimeoutMs,
      invalidations: {},
    };
    this.connections = { services, trail: new NatsConnection(options) };
    void this.connections.trail.open();
  }

  use<T>(server: NatsServer, work: NatsWork<T>, limitMs?: number): Promise<T> {
    return this.connections[server].use(work, limitMs);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.connections.trail.close();
  }
}
