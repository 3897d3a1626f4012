import { hash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { type RedisClient, withRedisErrors } from '#platform/redis/redis-client.js';
import { REDIS } from '#platform/redis/redis.connection.js';

@Injectable()
export class LogoutTokenStore {
  constructor(@Inject(REDIS) private readonly redis: RedisClient) {}

  async isKnown(jti: string): Promise<boolean> {
    return (await withRedisErrors(this.redis.exists(keyOf(jti)))) === 1;
  }

  async remember(jti: string, lifetimeS: number): Promise<void> {
    await withRedisErrors(this.redis.set(keyOf(jti), '1', 'EX', lifetimeS));
  }
}

function keyOf(jti: string): string {
  return `logout:${hash('sha256', jti, 'base64url')}`;
}
