import { Injectable } from '@nestjs/common';
import { migrate } from '../migrate.js';
import { AdministrationOptions, trailServer } from '#operations/administration.options.js';
import { Announcer } from '#operations/announcer.js';
import { createStreams } from './create-streams.js';
import type { Actor, Change } from '#operations/actor.js';

export interface AppliedMigrations {
  readonly applied: readonly string[];
  /** True if the streams of the audit trail are up to date; false without the URL of a NATS server. */
  readonly streams: boolean;
}

@Injectable()
export class MigrationService {
  constructor(
    private readonly announcer: Announcer,
    private readonly options: AdministrationOptions,
  ) {}

  /** Concurrent calls are safe. */
  async migrate(actor: Actor): Promise<Change<AppliedMigrations>> {
    const { settings } = this.options;
    const applied = await migrate(settings.DATABASE_URL, { schema: settings.DATABASE_SCHEMA });
    const streams = trailServer(settings).url !== '';
    if (streams) await createStreams(settings);
    return {
      result: { applied, streams },
      announced:
        streams && applied.length > 0
          ? this.announcer.record(actor, {
              type: 'operator.command',
              detail: { command: 'migrate', applied },
            })
          : Promise.resolve([]),
    };
  }
}
