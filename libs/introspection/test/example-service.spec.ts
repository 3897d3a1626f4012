import 'reflect-metadata';
import { randomBytes } from 'node:crypto';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import request from 'supertest';
import { REDIRECT_URI } from '#test/support/fixture.js';
import { startTokenProcess, type TokenProcess } from '#test/support/token-process.js';
import { exampleService } from './example-service.js';

let tokenApp: TokenProcess;
let service: INestApplication;
let accessToken: string;
let refreshToken: string;

const post = (path: string, body: object) =>
  request(tokenApp.url)
    .post(`/api/auth/oauth/${path}`)
    .send({ ...body, ...tokenApp.ours });

beforeAll(async () => {
  tokenApp = await startTokenProcess();
  service = await NestFactory.create(exampleService(tokenApp.natsUrl), new FastifyAdapter(), {
    logger: false,
  });
  await service.listen(0, '127.0.0.1');
  const code = await tokenApp.code(tokenApp.ours.client_id, tokenApp.userId);
  const body = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI };
  ({ access_token: accessToken, refresh_token: refreshToken } = (await post('token', body)).body as {
    access_token: string;
    refresh_token: string;
  });
});

afterAll(async () => {
  await service.close();
  await tokenApp.close();
});

const bookings = () => request(service.getHttpServer()).get('/v2/bookings');

describe('a service that protects its API with three lines of code', () => {
  it('gets the user, client and scopes of the access token', async () => {
    const answer = await bookings().auth(accessToken, { type: 'bearer' });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      bookingsOf: tokenApp.userId,
      askedBy: tokenApp.ours.client_id,
      scopes: ['profile:read'],
    });
  });

  // @rfc 6750 3 @rfc 6750 3.1
  it('challenges a request without a token, and sends no error code (RFC 6750 3.1)', async () => {
    const answer = await bookings();
    expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, 'Bearer realm="oauth"']);
  });

  it('rejects a refresh token, a malformed token and a forged access token (RFC 6750 3.1)', async () => {
    for (const token of [refreshToken, 'nonsense', `sat_${randomBytes(63).toString('base64url')}`]) {
      const answer = await bookings().auth(token, { type: 'bearer' });
      expect([answer.status, answer.headers['www-authenticate']]).toEqual([
        401,
        'Bearer realm="oauth", error="invalid_token"',
      ]);
    }
  });

  it('rejects a malformed Authorization header (RFC 6750 3.1)', async () => {
    const answer = await bookings().set('Authorization', 'Bearer a b');
    expect([answer.status, answer.headers['www-authenticate']]).toEqual([
      400,
      'Bearer realm="oauth", error="invalid_request"',
    ]);
  });
});
