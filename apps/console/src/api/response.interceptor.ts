import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { AdministrationError } from '#platform/validation/administration.error.js';
import { entityTagOf } from '#oauth/entity-tag.js';
import { RefusedRequestError } from '#platform/http/failed-request.js';
import { addLogContext } from '#platform/logging/request-log.js';
import { IdempotencyService, REPEATABLE } from '#pages/idempotency.service.js';
import { type ApiResponse, responseTo } from './response.js';
import type { ApiRequest } from './api.guard.js';
import {
  type Condition,
  expectedVersions,
  isNotModified,
  outdated,
  requiresAbsence,
  unsupportedCondition,
} from './conditions.js';
import { type OperationRules, rulesOf } from './operation-rules.js';

/** draft-ietf-httpapi-idempotency-key-header 2.1 requires quotes (RFC 8941 3.3.3), which many clients omit. */
const KEY = /^(?:"([\x21\x23-\x5b\x5d-\x7e]{1,255})"|([\x21\x23-\x5b\x5d-\x7e]{1,255}))$/;

type Content = string | Buffer | undefined;

/** Checks the conditions of a request, executes it once, and writes its response. */
@Injectable()
export class ResponseInterceptor implements NestInterceptor<object, Content> {
  constructor(private readonly idempotency: IdempotencyService) {}

  intercept(context: ExecutionContext, next: CallHandler<object>): Observable<Content> {
    const http = context.switchToHttp();
    const rules = rulesOf(context.getHandler());
    const request = http.getRequest<ApiRequest>();
    const conditions = conditionsOf(request, rules);
    const response = this.executed(request, rules.creates === true, () =>
      underFirst(conditions, async (expected) => {
        request.expected = expected;
        return responseTo(await lastValueFrom(next.handle()), rules, request.url);
      }),
    );
    return from(response.then((done) => write(request, http.getResponse<FastifyReply>(), done)));
  }

  private async executed(
    request: ApiRequest,
    creates: boolean,
    execute: () => Promise<ApiResponse>,
  ): Promise<ApiResponse> {
    const key = request.method === 'POST' ? keyOf(request.headers['idempotency-key'], creates) : null;
    if (key === null) return execute();
    const { method, url, headers, body, token } = request;
    const content = JSON.stringify([method, url, headers['if-match'], body]);
    const once = { owner: token.clientId, key, content, creates, lifetime: REPEATABLE, isStored: true };
    const { text } = await this.idempotency.once(once, async () => JSON.stringify(await execute()));
    return JSON.parse(text) as ApiResponse;
  }
}

const isRead = ({ method }: ApiRequest): boolean => method === 'GET' || method === 'HEAD';

function conditionsOf(request: ApiRequest, rules: OperationRules): readonly Condition[] {
  const { headers } = request;
  if (isRead(request)) return [{}];
  if (rules.mayBeAbsent && requiresAbsence(request)) return [{ isAbsent: true }];
  if (rules.needsVersion && headers['if-none-match'] === undefined) return expectedVersions(request);
  if (headers['if-match'] === undefined && headers['if-none-match'] === undefined) return [{}];
  throw unsupportedCondition(
    rules.needsVersion ? 'this operation supports If-Match only' : 'leave out If-Match and If-None-Match',
  );
}

/** Executes under the first condition that holds. A change whose condition does not hold changes nothing. */
async function underFirst(
  conditions: readonly Condition[],
  execute: (expected: Condition) => Promise<ApiResponse>,
): Promise<ApiResponse> {
  let failure: unknown = outdated();
  for (const expected of conditions)
    try {
      return await execute(expected);
    } catch (error) {
      if (!(error instanceof AdministrationError) || error.kind !== 'outdated') throw error;
      failure = error;
    }
  throw failure;
}

function keyOf(header: string | string[] | undefined, isRequired: boolean): string | null {
  if (header === undefined && !isRequired) return null;
  const [, quoted, bare] = KEY.exec(String(header ?? '')) ?? [];
  const key = quoted ?? bare;
  if (key !== undefined) return key;
  const [state, problem] =
    header === undefined
      ? ['missing', 'is missing']
      : ['malformed', 'must be 1 to 255 printable characters without spaces'];
  throw new RefusedRequestError(
    400,
    `Idempotency-Key ${problem}: send a new random value, and repeat it in a retry`,
    { detail: { check: `idempotency_key_${state}` } },
  );
}

function write(request: ApiRequest, reply: FastifyReply, response: ApiResponse): Content {
  const { status, headers, body, warnings } = response;
  if (warnings.length > 0) addLogContext(request.raw, { warnings });
  const content = contentOf(response);
  const etag = headers['ETag'] ?? (isRead(request) ? `"${entityTagOf(content ?? '')}"` : undefined);
  if (isRead(request) && isNotModified(request, etag ?? '')) {
    reply.status(304).header('ETag', etag);
    return undefined;
  }
  reply.headers(headers);
  if (etag !== undefined) reply.header('ETag', etag);
  if (status !== undefined) reply.status(status);
  if (body !== undefined && !Buffer.isBuffer(body)) reply.type('application/json; charset=utf-8');
  return content;
}

function contentOf({ body, warnings }: ApiResponse): Content {
  if (body === undefined || Buffer.isBuffer(body)) return body;
  return JSON.stringify({ ...body, ...(warnings.length > 0 && { warnings }) });
}
