import { createHmac } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import rateLimit from '@fastify/rate-limit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { addressNetwork } from '#platform/http/client-address.js';
import { RefusedRequestError } from '#platform/http/failed-request.js';
import { withRedisErrors } from '#platform/redis/redis-client.js';
import { REDIS } from '#platform/redis/redis.connection.js';
import { PagesOptions } from './pages.options.js';

interface Limit {
  readonly max: number;
  readonly windowS: number;
}

const perMinute = (max: number): Limit => ({ max, windowS: 60 });

const LIMITS = {
  api: perMinute(600),
  /** Requests without a valid token, per `addressNetwork`. */
  unauthenticated: perMinute(60),
  pages: perMinute(300),
  /** Forms that are kept during a login, per `addressNetwork`. */
  forms: perMinute(20),
  /** Forms that are kept in total, for as long as each is kept: at most some 35 MB of Redis. */
  allForms: { max: 100, windowS: 60 * 60 },
  /** Pages that show a form again and are stored for a repeated form, in total: at most some 70 MB of Redis. */
  allPages: { max: 100, windowS: 5 * 60 },
  /** Requests to this service for a user, per session. */
  steps: perMinute(20),
  /** Starts and ends of logins, per `addressNetwork`. */
  login: perMinute(60),
} as const satisfies Record<string, Limit>;

const limitOf = (key: string): Limit => LIMITS[key.split(':', 1)[0] as keyof typeof LIMITS];

type Limited = FastifyRequest & { rateLimitKey?: string };

/** Registers the plugin. `RateLimits` applies its limits, because a client is known only after its authentication. */
export async function addRateLimits(app: NestFastifyApplication): Promise<void> {
  await app.register(rateLimit, {
    global: false,
    redis: app.get<unknown>(REDIS, { strict: false }),
    nameSpace: `${app.get(PagesOptions, { strict: false }).app}:rate:`,
    timeWindow: (_request: Limited, key: string) => limitOf(key).windowS * 1000,
    keyGenerator: (request: Limited) => request.rateLimitKey ?? '',
    max: (_request: Limited, key: string) => limitOf(key).max,
  });
}

@Injectable()
export class RateLimits {
  private count: ReturnType<FastifyRequest['server']['createRateLimit']> | undefined;

  constructor(private readonly options: PagesOptions) {}

  /** Stores a MAC of the key, because Redis must not contain addresses or cookies. @throws RefusedRequestError 429 */
  async take(
    kind: keyof typeof LIMITS,
    request: Limited,
    reply: FastifyReply,
    key = addressNetwork(request.ip),
  ): Promise<void> {
    const { max, windowS } = LIMITS[kind];
    const counted = await this.counted(kind, request, key);
    if (counted.isAllowed) return;
    const { remaining, ttlInSeconds, isExceeded } = counted;
    reply.header('RateLimit-Policy', `"${kind}";q=${max};w=${windowS}`);
    reply.header('RateLimit', `"${kind}";r=${remaining};t=${ttlInSeconds}`);
    if (!isExceeded) return;
    throw new RefusedRequestError(429, `more than ${max} requests in ${windowS} seconds: retry later`, {
      headers: { 'Retry-After': String(ttlInSeconds) },
      detail: { check: 'rate_limited' },
    });
  }
  /** Counts what Redis stores. @returns false if nothing more may be stored */
  async hasRoom(kind: 'allForms' | 'allPages', request: Limited): Promise<boolean> {
    const counted = await this.counted(kind, request, '');
    return counted.isAllowed || !counted.isExceeded;
  }

  private counted(kind: keyof typeof LIMITS, request: Limited, key: string) {
    const mac = createHmac('sha256', this.options.login.clientSecret).update(`rate limit ${kind}:${key}`);
    request.rateLimitKey = `${kind}:${mac.digest('base64url')}`;
    this.count ??= request.server.createRateLimit();
    return withRedisErrors(this.count(request));
  }
}
