// oidc-provider on Redis, with opaque tokens and rotation. The resource route caches access tokens for 30 s, like
// this product. SAME_DUTY adds a request log, metrics and security headers, as in a deployment.
import { generateKeyPair } from 'node:crypto';
import { createServer } from 'node:http';
import { promisify } from 'node:util';
import helmet from 'helmet';
import { Redis } from 'ioredis';
import { Provider } from 'oidc-provider';
import { destination } from 'pino';
import { pinoHttp } from 'pino-http';
import { collectDefaultMetrics, Histogram } from 'prom-client';
import { listening, PROFILE } from './peer.mjs';

const { PORT, REDIS_URL, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI, SAME_DUTY } = process.env;
const redis = new Redis(REDIS_URL, { keyPrefix: 'oidc:' });

/** Stores each model instance under one key. Instances that can be consumed are hashes. */
class RedisAdapter {
  constructor(name) {
    this.name = name;
    this.isConsumable = name === 'AuthorizationCode' || name === 'RefreshToken';
  }

  key(id) {
    return `${this.name}:${id}`;
  }

  async upsert(id, payload, expiresIn) {
    const key = this.key(id);
    const store = redis.multi();
    if (this.isConsumable) store.hset(key, { payload: JSON.stringify(payload) });
    else store.set(key, JSON.stringify(payload));
    if (expiresIn) store.expire(key, expiresIn);
    if (payload.grantId && this.name !== 'Grant') {
      const members = `grant:${payload.grantId}`;
      store.rpush(members, key);
      store.expire(members, 3600);
    }
    await store.exec();
  }

  async find(id) {
    if (!this.isConsumable) {
      const text = await redis.get(this.key(id));
      return text ? JSON.parse(text) : undefined;
    }
    const { payload, ...rest } = await redis.hgetall(this.key(id));
    return payload ? { ...JSON.parse(payload), ...rest } : undefined;
  }

  async consume(id) {
    await redis.hset(this.key(id), 'consumed', Math.floor(Date.now() / 1000));
  }

  async destroy(id) {
    await redis.del(this.key(id));
  }

  async revokeByGrantId(grantId) {
    const members = `grant:${grantId}`;
    const keys = await redis.lrange(members, 0, -1);
    await redis.del(...keys, members);
  }

  async findByUid() {}
  async findByUserCode() {}
}

const CLIENT = {
  client_secret: CLIENT_SECRET,
  redirect_uris: [REDIRECT_URI],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'client_secret_post',
};

async function signingKey(alg, type, options) {
  const { privateKey } = await promisify(generateKeyPair)(type, options);
  return { ...privateKey.export({ format: 'jwk' }), alg, kid: alg, use: 'sig' };
}

const provider = new Provider(`http://127.0.0.1:${PORT}`, {
  adapter: RedisAdapter,
  // The first client gets no ID token. The ids of the other clients end with the signing algorithm.
  clients: [
    { ...CLIENT, client_id: CLIENT_ID },
    { ...CLIENT, client_id: `${CLIENT_ID}-RS256`, id_token_signed_response_alg: 'RS256' },
    { ...CLIENT, client_id: `${CLIENT_ID}-ES256`, id_token_signed_response_alg: 'ES256' },
  ],
  jwks: {
    keys: [
      await signingKey('RS256', 'rsa', { modulusLength: 2048 }),
      await signingKey('ES256', 'ec', { namedCurve: 'P-256' }),
    ],
  },
  scopes: ['openid', 'profile', 'offline_access'],
  features: { devInteractions: { enabled: false } },
  pkce: { required: () => false },
  rotateRefreshToken: true,
  issueRefreshToken: async () => true,
  ttl: { AccessToken: 1800, AuthorizationCode: 600, Grant: 3600, RefreshToken: 3600 },
  findAccount: async (_context, accountId) => ({ accountId, claims: async () => ({ sub: accountId }) }),
});

/** Issues a code without the consent page. */
async function code(clientId) {
  const client = await provider.Client.find(clientId);
  const scope = clientId === CLIENT_ID ? 'profile offline_access' : 'openid profile offline_access';
  const grant = new provider.Grant({ accountId: '1', clientId });
  grant.addOIDCScope(scope);
  const grantId = await grant.save(3600);
  const values = {
    accountId: '1',
    client,
    grantId,
    redirectUri: REDIRECT_URI,
    scope,
    nonce: 'bench',
    authTime: Math.floor(Date.now() / 1000),
  };
  return new provider.AuthorizationCode({
    ...values,
    gty: 'authorization_code',
    expiresWithSession: false,
  }).save();
}

const CACHE_MS = 30_000;
const cache = new Map();

async function activeToken(value) {
  const known = cache.get(value);
  if (known && known.until > Date.now()) return known.token;
  const token = await provider.AccessToken.find(value);
  if (token) cache.set(value, { token, until: Date.now() + CACHE_MS });
  return token;
}

provider.use(async (context, next) => {
  if (context.path === '/codes') {
    const codes = [];
    while (codes.length < Number(context.query.count)) codes.push(await code(context.query.client_id));
    context.body = codes;
  } else if (context.path === '/me') {
    const token = await activeToken((context.get('authorization') ?? '').slice('Bearer '.length));
    if (token?.isValid) context.body = PROFILE;
    else context.status = 401;
  } else await next();
});
const handle = provider.callback();
const answer = (request, response) => void handle(request, response);
createServer(SAME_DUTY ? sameDuty(answer) : answer).listen(Number(PORT), '127.0.0.1', listening);

/** Adds what this product also has: a buffered log line without headers, a histogram and security headers. */
function sameDuty(answer) {
  const serializers = {
    req: ({ method, url }) => ({ method, url }),
    res: ({ statusCode }) => ({ statusCode }),
  };
  const log = pinoHttp({ serializers }, destination({ fd: 1, sync: false, minLength: 12 * 1024 }));
  const setHeaders = helmet();
  const labelNames = ['method', 'route', 'status'];
  const duration = new Histogram({ name: 'http_request_duration_seconds', help: 'Duration', labelNames });
  collectDefaultMetrics();
  return (request, response) => {
    const end = duration.startTimer({ method: request.method, route: request.url });
    response.once('finish', () => end({ status: response.statusCode }));
    log(request, response);
    setHeaders(request, response, () => answer(request, response));
  };
}
