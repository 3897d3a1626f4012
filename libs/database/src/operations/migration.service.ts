import { Injectable, Module } from '@nestjs/common';
import { ensureAuditStreams } from '#audit/streams.js';
import {
  AdministrationOptions,
  type AdministrationSettings,
  trailServer,
} from '#operations/administration.options.js';
import { AdministrationError } from '#platform/validation/administration.error.js';
import { problem } from '#platform/validation/problem.js';
import { withNats } from '#operations/operator-nats.js';
import { Announcer } from '#operations/announcer.js';
import type { Actor, Change } from '#operations/audit-trail.js';
import { migrate } from '../migrate.js';
import { MigrationRefusedError } from '../migration-refused.error.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    /** `variable` has the URL of NATS. */
    streams_not_created: { readonly variable: string; readonly reason: string };
  }
}

type TrailSettings = Pick<AdministrationSettings, 'natsUrl' | 'auditNatsUrl' | 'auditRetention'>;

/** @throws AdministrationError with the reason why NATS did not create or update the streams */
export async function createStreams(settings: TrailSettings): Promise<void> {
  const { url, variable } = trailServer(settings);
  try {
    await withNats(url, (nats) => ensureAuditStreams(nats, settings.auditRetention));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const refused = problem('streams_not_created', [], { variable, reason });
    throw new AdministrationError('unavailable', [refused], { cause });
  }
}

/** Like `migrate`. @throws AdministrationError that says how to remove an obstacle */
export async function migrateDatabase(databaseUrl: string, schema: string): Promise<string[]> {
  return migrate(databaseUrl, { schema }).catch((cause: unknown) => {
    if (!(cause instanceof MigrationRefusedError)) throw cause;
    const refused = problem('migration_refused', [], cause.obstacle);
    throw new AdministrationError('unavailable', [refused], { cause });
  });
}

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
    const applied = await migrateDatabase(settings.databaseUrl, settings.databaseSchema);
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

const SERVICES = [MigrationService];

@Module({ providers: SERVICES, exports: SERVICES })
export class DatabaseOperationsModule {}
