import { Injectable, Module } from '@nestjs/common';
import { IsArray, IsIn, IsString } from 'class-validator';
import { ClientStore } from '#clients/client.store.js';
import { EventStreamStore } from '#events/event-stream.store.js';
import { DatabaseInspection } from '#database/database-inspection.js';
import { MailStore } from '#mail/mail.store.js';
import { TokenKeyStore } from '#keys/token-key.store.js';
import { AdministrationOptions } from '#operations/administration.options.js';
import { AuditTrail } from '#operations/audit-trail.js';
import { type Input, validated } from '#operations/operation-input.js';
import { reports } from '#platform/validation/problem.js';
import { RunningServices } from '#operations/running-services/running-services.js';
import { isStopping } from '#platform/status/status-report.js';
import { type Answers, askServices } from '#operations/running-services/status.js';
import { addressArea } from './address.area.js';
import { certificateArea } from './certificate.checks.js';
import { clientArea } from './client.area.js';
import { databaseArea } from './database.checks.js';
import { diagnose, type Diagnosis } from './diagnose.js';
import { type Area, AREAS, noneChecked } from './finding.js';
import { deliveryAreas } from './delivery.checks.js';
import { natsArea } from './nats.checks.js';
import { processAreas, statusesOf } from './process.area.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    part_unknown: { readonly words: readonly string[] };
    severity_unknown: { readonly words: readonly string[] };
  }
}

class DoctorDto {
  @IsIn(AREAS, { each: true, ...reports('part_unknown', { words: AREAS }) })
  @IsString({ each: true })
  @IsArray()
  skip: readonly string[] = [];

  @IsIn(['error', 'warning'], reports('severity_unknown', { words: ['error', 'warning'] }))
  @IsString()
  failOn: 'error' | 'warning' = 'error';
}

/** Checks the whole installation without changing anything. */
@Injectable()
export class DoctorService {
  constructor(
    private readonly clients: ClientStore,
    private readonly streams: EventStreamStore,
    private readonly mails: MailStore,
    private readonly tokenKeys: TokenKeyStore,
    private readonly inspection: DatabaseInspection,
    private readonly trail: AuditTrail,
    private readonly services: RunningServices,
    private readonly options: AdministrationOptions,
  ) {}

  async diagnose(
    input: Input<DoctorDto> = {},
    progress: (done: number, total: number) => void = () => undefined,
  ): Promise<Diagnosis & Pick<DoctorDto, 'failOn'> & { readonly warnings: readonly string[] }> {
    const { skip, failOn } = validated(DoctorDto, input);
    const { clients, streams, mails, tokenKeys, inspection, trail, options } = this;
    const { settings } = options;
    // Several areas share one request.
    let request: Promise<Answers> | undefined;
    const ask = async () => {
      const { answers } = await (request ??= askServices(this.services));
      return answers.filter(({ status }) => !isStopping(status));
    };
    const statuses = async () => statusesOf(await ask());
    const areas = [
      addressArea(settings),
      ...processAreas({ options, inspection, tokenKeys }, ask),
      ...deliveryAreas({ trail, clients, streams, mails }, statuses),
      databaseArea(inspection),
      natsArea(settings, trail),
      certificateArea(settings),
      clientArea({ options, trail, clients }, statuses),
    ].map((area) => (skip.includes(area.name) ? skipped(area) : area));
    const diagnosis = await diagnose(areas, progress);
    const { warnings } = (await request?.catch(() => null)) ?? { warnings: [] };
    return { ...diagnosis, failOn, warnings };
  }
}

@Module({ providers: [DoctorService], exports: [DoctorService] })
export class DiagnosisModule {}

function skipped({ name, checks }: Area): Area {
  return { name, checks, examine: async () => noneChecked(checks, 'the caller skipped it') };
}
