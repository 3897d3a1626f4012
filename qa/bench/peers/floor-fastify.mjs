// Lower bound for this stack: Fastify, a form body and one Redis script per token pair. No verification, no logs.
import { randomBytes } from 'node:crypto';
import Fastify from 'fastify';
import { Redis } from 'ioredis';
import { listening, PROFILE } from './peer.mjs';

const ROTATE = `
local generation = redis.call('HINCRBY', KEYS[1], 'generation', 1)
redis.call('HSET', KEYS[1], 'rotated_at', ARGV[1])
redis.call('EXPIRE', KEYS[1], 3600)
return generation
`;
const redis = new Redis(process.env.REDIS_URL);
redis.defineCommand('rotate', { numberOfKeys: 1, lua: ROTATE });

const app = Fastify();
app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
  done(null, Object.fromEntries(new URLSearchParams(body))),
);
// oxlint-disable-next-line oxc/no-async-endpoint-handlers -- Fastify awaits its handlers
app.post('/token', async (request) => {
  const { code, refresh_token: refreshToken } = request.body;
  const grant = (code ?? refreshToken).slice(0, 22);
  const generation = await redis.rotate(`floor:${grant}`, Date.now());
  return {
    access_token: `${grant}.${generation}.${randomBytes(16).toString('base64url')}`,
    refresh_token: `${grant}.${generation}.${randomBytes(16).toString('base64url')}`,
    token_type: 'Bearer',
    expires_in: 1800,
    scope: 'profile',
  };
});
app.get('/codes', async ({ query: { count } }) =>
  Array.from({ length: Number(count) }, () => randomBytes(33).toString('base64url')),
);
app.get('/me', async () => PROFILE);
await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) });
listening();
