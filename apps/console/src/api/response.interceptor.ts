import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { RefusedRequestError } from '#platform/http/refused-request.js';
import { addLogContext } from '#platform/logging/request-log.js';
import { IdempotencyService } from '../request-limits/idempotency.service.js';
import type { ApiResponse } from './response.js';
import type { ApiRequest } from './api.guard.js';
import { expectedVersion } from './if-match.js';
import { rulesOf } from './operation-rules.js';

/** draft-ietf-httpapi-idempotency-key-header 2.1 requires quotes (RFC 8941 3.3.3), which many clients omit. */
const KEY = /^(?:"([\x21\x23-\x5b\x5d-\x7e]{1,255})"|([\x21\x23-\x5b\x5d-\x7e]{1,255}))$/;

@Injectable()
export class ResponseInterceptor implements NestInterceptor<ApiResponse, string | undefined> {
  constructor(private readonly idempotency: IdempotencyService) {}

  intercept(context: ExecutionContext, next: CallHandler<ApiResponse>): Observable<string | undefined> {
    const http = context.switchToHttp();
    const { needsVersion = false, creates = false } = rulesOf(context.getHandler());
    const request = http.getRequest<ApiRequest>();
    if (needsVersion) expectedVersion(request);
    const response = this.executed(request, creates, () => lastValueFrom(next.handle()));
    return from(response.then((done) => write(http.getResponse<FastifyReply>(), done)));
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
    const once = { owner: token.clientId, key, content, creates };
    return JSON.parse(
      await this.idempotency.once(once, async () => JSON.stringify(await execute())),
    ) as ApiResponse;
  }
}

function keyOf(header: string | string[] | undefined, isRequired: boolean): string | null {
  if (header === undefined && !isRequired) return null;
  const [, quoted, bare] = KEY.exec(String(header ?? '')) ?? [];
  const key = quoted ?? bare;
  if (key !== undefined) return key;
  const problem =
    header === undefined ? 'is missing' : 'must be 1 to 255 printable characters without spaces';
  throw new RefusedRequestError(
    400,
    `Idempotency-Key ${problem}: send a new random value, and repeat it in a retry`,
  );
}

function write(reply: FastifyReply, { headers, body, warnings = [] }: ApiResponse): string | undefined {
  reply.headers(headers);
  if (warnings.length > 0) addLogContext(reply.request.raw, { warnings });
  if (body === undefined) return undefined;
  reply.type('application/json; charset=utf-8');
  return JSON.stringify({ ...body, ...(warnings.length > 0 && { warnings }) });
}
