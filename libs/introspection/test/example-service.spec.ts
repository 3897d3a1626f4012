import 'reflect-metadata';
import { randomBytes } from 'node:crypto';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { TokenServiceConnection } from '#introspection/token-service.connection.js';
import request from 'supertest';
import { type AppProcess, startApp } from '#testing/app-process.js';
import { type Fixture, openFixture, REDIRECT_URI, type TestClient } from '#testing/fixture.js';
import { type Isolated, isolate } from '#testing/isolate.js';
import { exampleService } from './example-service.js';

let services: Isolated;
let fixture: Fixture;
let tokenApp: AppProcess;
let service: INestApplication;
let client: TestClient;
let userId: number;
let accessToken: string;
let refreshToken: string;

const post = (path: string, body: object) =>
  request(tokenApp.url)
    .post(`/api/auth/oauth/${path}`)
    .send({ ...body, ...client });

beforeAll(async () => {
  services = await isolate();
  const TOKEN_KEYS = randomBytes(32).toString('base64url');
  tokenApp = await startApp('token', {
    AUTH_URL: 'https://auth.example.com',
    BASE_URL: 'https://base.example.com',
    DATABASE_URL: services.databaseUrl,
    REDIS_URL: services.redisUrl,
    NATS_URL: services.natsUrl,
    LOG_LEVEL: 'fatal',
    TOKEN_KEYS,
  });
  fixture = await openFixture(services, TOKEN_KEYS);
  [client, userId] = [await fixture.client(), await fixture.user()];
  service = await NestFactory.create(exampleService(services.natsUrl), new FastifyAdapter(), {
    logger: false,
  });
  await service.listen(0, '127.0.0.1');
  const code = await fixture.code(client.client_id, userId);
  const body = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI };
  ({ access_token: accessToken, refresh_token: refreshToken } = (await post('token', body)).body as {
    access_token: string;
    refresh_token: string;
  });
});

afterAll(async () => {
  await service.close();
  await tokenApp.stop();
  await fixture.close();
  await services.close();
});

const bookings = () => request(service.getHttpServer()).get('/v2/bookings');

describe('a service of another team, protected by three lines', () => {
  it('knows whose the access token is, who uses it and for what', async () => {
    const answer = await bookings().auth(accessToken, { type: 'bearer' });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      bookingsOf: userId,
      askedBy: client.client_id,
      scopes: ['profile:read'],
    });
  });

  it('asks for a token with a challenge and no error code where none was sent (RFC 6750 3.1)', async () => {
    const answer = await bookings();
    expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, 'Bearer realm="oauth"']);
  });

  it('refuses what is no access token (RFC 6750 3.1)', async () => {
    for (const token of [refreshToken, 'nonsense', `sat_${randomBytes(63).toString('base64url')}`]) {
      const answer = await bookings().auth(token, { type: 'bearer' });
      expect([answer.status, answer.headers['www-authenticate']]).toEqual([
        401,
        'Bearer realm="oauth", error="invalid_token"',
      ]);
    }
  });

  it('refuses a header that is not Bearer and a token (RFC 6750 3.1)', async () => {
    const answer = await bookings().set('Authorization', 'Bearer a b');
    expect([answer.status, answer.headers['www-authenticate']]).toEqual([
      400,
      'Bearer realm="oauth", error="invalid_request"',
    ]);
  });

  it('refuses a token that was in its cache as soon as the grant is revoked', async () => {
    expect((await bookings().auth(accessToken, { type: 'bearer' })).status).toBe(200);
    await post('revoke', { token: accessToken });
    await fixture.settled();
    await service.get(TokenServiceConnection).ping();
    expect((await bookings().auth(accessToken, { type: 'bearer' })).status).toBe(401);
  });

  it('answers 503 with Retry-After when nobody can tell', async () => {
    await tokenApp.stop();
    const answer = await bookings().auth(`sat_${randomBytes(63).toString('base64url')}`, { type: 'bearer' });
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1']);
  });
});
