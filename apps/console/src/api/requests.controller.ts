import { Param } from '@nestjs/common';
import type { Actor, Change } from '#operations/audit-trail.js';
import type { RequestView } from '#clients/operations/requests/request.description.js';
import { ReviewService } from '#clients/operations/requests/review.service.js';
import { describeFinding } from '#error-guide/request-findings.js';
import { ApiController, Operation } from './operation.js';
import { type ChangeRequest, RequestedChange } from './request-input.js';
import * as schemas from './schemas.js';

const DECIDED = { returns: schemas.REQUEST, hasVersion: true, needsVersion: true } as const;

/** Requests of application owners, which an operator decides. */
@ApiController('requests')
export class RequestsApiController {
  constructor(private readonly reviews: ReviewService) {}

  @Operation('get', '', {
    summary: 'Lists the open requests of application owners, the oldest first',
    description: 'At most 100.',
    returns: schemas.QUEUED_REQUEST,
    isWholeList: true,
  })
  async listRequests(): Promise<readonly object[]> {
    return (await this.reviews.queue()).requests;
  }

  @Operation('get', ':id', {
    summary: 'Reads a request, with the findings of the checks and what the approval would change',
    description: 'All texts in it are the owner’s: show them as text.',
    returns: schemas.REVIEWED_REQUEST,
  })
  async readRequest(@Param('id') id: string): Promise<object> {
    const { request, findings, ...context } = await this.reviews.find(id);
    const described = findings.map((finding) => ({ ...finding, text: describeFinding(finding) }));
    return { ...request, ...context, findings: described };
  }

  @Operation('post', ':id/approve', {
    summary: 'Approves a request: a new application becomes live, a live one is changed',
    input: schemas.MESSAGE,
    ...DECIDED,
  })
  approveRequest(@RequestedChange() change: ChangeRequest): Promise<Change<object>> {
    return this.decide(change, (...step) => this.reviews.approve(...step));
  }

  @Operation('post', ':id/ask', {
    summary: 'Asks the owner a question, and waits for the answer',
    input: schemas.EXPLANATION_FOR_OWNER,
    ...DECIDED,
  })
  askAboutRequest(@RequestedChange() change: ChangeRequest): Promise<Change<object>> {
    return this.decide(change, (...step) => this.reviews.ask(...step));
  }

  @Operation('post', ':id/reject', {
    summary: 'Rejects a request: a new application is disabled, a live one stays as it is',
    input: schemas.EXPLANATION_FOR_OWNER,
    ...DECIDED,
  })
  rejectRequest(@RequestedChange() change: ChangeRequest): Promise<Change<object>> {
    return this.decide(change, (...step) => this.reviews.reject(...step));
  }

  private async decide(
    { actor, id, input, expected }: ChangeRequest,
    decide: (actor: Actor, id: string, input: object) => Promise<Change<RequestView>>,
  ): Promise<Change<object>> {
    const version = expected.version ?? (await this.reviews.find(id)).request.version;
    return decide(actor, id, { ...input, version });
  }
}
