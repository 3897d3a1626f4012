import { Injectable } from '@nestjs/common';
import { AuditPublisher } from '#audit/publisher.js';
import { NatsConnection } from '#messaging/nats.connection.js';
import type { NatsWork } from '#messaging/use-connection.js';
import { type NatsServer, OperatorNats } from '#operations/operator-nats.js';

/** Adapter of a process that stays: operations share its connections. */
@Injectable()
export class ConsoleNats extends OperatorNats {
  private readonly connections: Readonly<Record<NatsServer, NatsConnection | AuditPublisher>>;

  constructor(services: NatsConnection, trail: AuditPublisher) {
    super();
    this.connections = { services, trail };
  }

  use<T>(server: NatsServer, work: NatsWork<T>, limitMs?: number): Promise<T> {
    return this.connections[server].use(work, limitMs);
  }
}
