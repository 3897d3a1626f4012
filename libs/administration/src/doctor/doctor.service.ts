import { Injectable } from '@nestjs/common';
import { ClientSecretStore } from '#database/client/client-secret.store.js';
import { ClientStore } from '#database/client/client.store.js';
import { DatabaseInspection } from '#database/connection/database-inspection.js';
import { TokenKeyStore } from '#database/token-key/token-key.store.js';
import { AdministrationOptions } from '../administration.options.js';
import { AuditTrail } from '../audit/audit-trail.js';
import { type Answers, askServices } from '../running-services/status.js';
import { addressArea } from './address.area.js';
import { certificateArea } from './certificate.area.js';
import { clientArea } from './client.area.js';
import { databaseArea } from './database.area.js';
import { diagnose, type Diagnosis } from './diagnose.js';
import { type Area, type AreaName, noneChecked } from './finding.js';
import { logoutArea } from './logout.area.js';
import { natsArea } from './nats.area.js';
import { processAreas, statusesOf } from './process.area.js';

/** Checks the whole installation, and changes nothing. */
@Injectable()
export class DoctorService {
  constructor(
    private readonly clients: ClientStore,
    private readonly secrets: ClientSecretStore,
    private readonly tokenKeys: TokenKeyStore,
    private readonly inspection: DatabaseInspection,
    private readonly trail: AuditTrail,
    private readonly options: AdministrationOptions,
  ) {}

  /** @param skip parts to skip */
  async diagnose(
    skip: readonly AreaName[] = [],
    progress: (done: number, total: number) => void = () => undefined,
  ): Promise<Diagnosis & { readonly warnings: readonly string[] }> {
    const { clients, secrets, tokenKeys, inspection, trail, options } = this;
    const { settings } = options;
    // Several parts share one request.
    let asked: Promise<Answers> | undefined;
    const ask = async () => (await (asked ??= askServices(settings.NATS_URL))).answers;
    const areas = [
      addressArea(settings),
      ...processAreas({ options, inspection, tokenKeys }, ask),
      logoutArea(trail, clients, async () => statusesOf(await ask())),
      databaseArea(inspection),
      natsArea(settings),
      certificateArea(settings),
      clientArea({ options, trail, clients, secrets }),
    ].map((area) => (skip.includes(area.name) ? skipped(area) : area));
    const diagnosis = await diagnose(areas, progress);
    const { warnings } = (await asked?.catch(() => null)) ?? { warnings: [] };
    return { ...diagnosis, warnings };
  }
}

function skipped({ name, checks }: Area): Area {
  return { name, checks, examine: async () => noneChecked(checks, `--skip ${name}`) };
}
