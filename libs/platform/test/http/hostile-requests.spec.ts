import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { type ArgumentsHost, Catch, Controller, type ExceptionFilter, Module, Post } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { descriptionOf } from '#error-guide/error-description.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { failedRequest } from '#platform/http/failed-request.js';
import { referenceOf } from '#platform/logging/request-log.js';
import { createBareService, THING } from '../support/bare-service.js';

describe('hostile requests', () => {
  @Controller('thing')
  class ThingController {
    @Post(':id')
    thing(): object {
      return {};
    }
  }

  @Catch()
  class ErrorFilter implements ExceptionFilter {
    catch(thrown: unknown, host: ArgumentsHost): void {
      const request = host.switchToHttp().getRequest<FastifyRequest>();
      const error =
        thrown instanceof OAuthError ? thrown : OAuthError.fromFailure(failedRequest(thrown, request));
      const reply = host.switchToHttp().getResponse<FastifyReply>().status(error.status);
      void reply.send({
        error: error.code,
        error_description: descriptionOf(error.reason),
        error_reference: referenceOf(request.raw),
      });
    }
  }

  @Module({})
  class ThingModule {}

  let app: NestFastifyApplication;

  beforeAll(async () => {
    const module = {
      module: ThingModule,
      controllers: [ThingController],
      providers: [{ provide: APP_FILTER, useClass: ErrorFilter }],
    };
    app = await createBareService(module, { crossOriginPaths: ['/thing/1'] });
    await app.listen(0, '127.0.0.1');
  });

  afterAll(() => app?.close());

  interface Answer {
    readonly status: number;
    readonly head: string;
    readonly body: unknown;
  }

  /** Sends raw bytes, which HTTP clients would normalize or refuse. */
  async function ask(request: string): Promise<Answer> {
    const socket = connect(Number(new URL(await app.getUrl()).port), '127.0.0.1');
    socket.write(request.replace('\r\n', '\r\nHost: localhost\r\nConnection: close\r\n'));
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
    return { status: Number(head.split(' ')[1]), head, body: JSON.parse(body) as unknown };
  }

  describe('a request target', () => {
    it.each(['/:a(', '/:a()', '/*/x', '/x*/y', '/thing/:id', '/thing/*', '/::', '/('])(
      'is never interpreted as a route pattern: GET %s gets 404',
      async (path) => {
        const { status, body } = await ask(`GET ${path} HTTP/1.1\r\n\r\n`);
        expect([status, body]).toEqual([404, expect.objectContaining({ error: 'not_found' })]);
      },
    );

    it.each([
      'GET *',
      'OPTIONS *',
      'GET http://localhost%2Fthing',
      'OPTIONS https://a%2F',
      'GET ftp://a/thing/1',
    ])('gets the response of an unknown path if it is not a path: %s', async (line) => {
      const { status, head, body } = await ask(`${line} HTTP/1.1\r\n\r\n`);
      expect([status, body]).toEqual([
        404,
        {
          error: 'not_found',
          error_description: 'there is nothing at this path',
          error_reference: expect.stringMatching(/^[\w-]{12}$/),
        },
      ]);
      for (const name of ['cache-control: no-store', 'x-content-type-options: nosniff'])
        expect(head.toLowerCase()).toContain(`\r\n${name}\r\n`);
    });

    it('is reduced to its path if it is in absolute form (RFC 9112 3.2.2)', async () => {
      const { status } = await ask(
        'POST HTTP://elsewhere.example/thing/1 HTTP/1.1\r\nContent-Length: 0\r\n\r\n',
      );
      expect(status).toBe(201);
    });
  });

  it('an unknown expectation is ignored, because a 417 is optional (RFC 9110 10.1.1)', async () => {
    const { status, body } = await ask(
      'POST /thing/1 HTTP/1.1\r\nExpect: the unexpected\r\nContent-Length: 0\r\n\r\n',
    );
    expect([status, body]).toEqual([201, {}]);
  });

  it('OPTIONS with a malformed body gets the standard error on a path without CORS', async () => {
    const head = 'OPTIONS /elsewhere HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 1';
    const { status, body } = await ask(`${head}\r\n\r\n{`);
    expect([status, body]).toEqual([
      400,
      {
        error: 'invalid_request',
        error_description: expect.stringMatching(/^the body is not valid JSON/) as string,
        error_reference: expect.stringMatching(/^[\w-]{12}$/),
      },
    ]);
  });
});

async function headersAt(publicUrl: string): Promise<Headers> {
  const app = await createBareService(THING, { publicUrl });
  await app.listen(0, '127.0.0.1');
  const { headers } = await fetch(`${await app.getUrl()}/thing`);
  await app.close();
  return headers;
}

describe('Strict-Transport-Security (RFC 6797)', () => {
  it('is sent if the public URL is https (7.1)', async () => {
    const headers = await headersAt('https://api.example.com');
    expect(headers.get('strict-transport-security')).toMatch(/^max-age=\d{8}/);
  });

  it('is not sent if the public URL is http (7.2)', async () => {
    const headers = await headersAt('http://api.example.com');
    expect(headers.has('strict-transport-security')).toBe(false);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });
});

describe('the security headers of an API', () => {
  it('include only headers that apply to JSON', async () => {
    const headers = await headersAt('https://api.example.com');
    const unrelated = /^(connection|content-length|content-type|date|keep-alive)$/;
    expect([...headers.keys()].filter((name) => !unrelated.test(name)).toSorted()).toEqual([
      'cache-control',
      'content-security-policy',
      'referrer-policy',
      'strict-transport-security',
      'x-content-type-options',
      'x-frame-options',
    ]);
  });
});
