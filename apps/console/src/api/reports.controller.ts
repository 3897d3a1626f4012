import { Param, UseInterceptors } from '@nestjs/common';
import { AuditService } from '#audit/operations/audit.service.js';
import { diagnosisJson } from '#diagnosis/diagnosis.description.js';
import { DoctorService } from '#diagnosis/doctor.service.js';
import { ExplainService, explanationJson } from '#audit/operations/explain/explain.service.js';
import { KeyService } from '#keys/operations/key.service.js';
import { ConcurrencyLimitInterceptor } from '../concurrency-limit.interceptor.js';
import { ApiResponse } from './response.js';
import { Query } from './request-input.js';
import { ApiController, Operation } from './operation.js';
import * as schemas from './schemas.js';

@ApiController('')
@UseInterceptors(ConcurrencyLimitInterceptor)
export class ReportsApiController {
  constructor(
    private readonly trail: AuditService,
    private readonly explanations: ExplainService,
    private readonly doctor: DoctorService,
    private readonly keys: KeyService,
  ) {}

  @Operation('get', 'events', {
    summary: 'Searches the audit trail, newest event first',
    description: 'A page may have fewer events than `limit`, although there are older ones: `next` decides.',
    query: {
      types: 'Like `token.issued`, or `token` for all of them; may be repeated.',
      client: 'client_id, or the name if no other application has it.',
      user: 'Email address, user name or external_id; `id:` and the id also for a deleted user.',
      grant: 'Id of a grant.',
      reference: '`error_reference` of a response.',
      check: `Failed check, like \`code_expired\`.`,
      operator: 'As the events name the operator.',
      since: 'Inclusive: ISO 8601, or like `1h`, `7d`.',
      until: 'Exclusive.',
    },
    lists: ['types'],
    returns: schemas.EVENT,
    isPage: true,
  })
  searchEvents(@Query() query: object): Promise<object> {
    return this.trail.page(query);
  }

  @Operation('get', 'explanations/:id', {
    summary: 'Explains why a request was refused, by its error_reference',
    returns: schemas.EXPLANATION,
  })
  async explain(@Param('id') reference: string): Promise<object> {
    const { warnings, ...explained } = await this.explanations.explainIndexed(reference);
    return { ...explanationJson(explained, (words) => words), warnings };
  }

  @Operation('get', 'doctor', {
    summary: 'Checks the whole installation, and changes nothing',
    query: {
      skip: 'Part to skip; may be repeated.',
      fail_on: 'Lowest severity with which `passed` is false: `error` (default) or `warning`.',
    },
    lists: ['skip'],
    returns: schemas.DIAGNOSIS,
  })
  async diagnose(@Query() query: object): Promise<ApiResponse> {
    const { failOn, warnings, ...diagnosis } = await this.doctor.diagnose(query);
    return new ApiResponse(diagnosisJson(diagnosis, failOn, 'operator'), {}, warnings);
  }

  @Operation('get', 'keys', {
    summary: 'Reports the use of each key of tokens in the running processes',
    returns: schemas.KEY_REPORT,
  })
  async reportKeys(): Promise<object> {
    const { list, warnings } = await this.keys.list();
    return { ...list, warnings };
  }
}
