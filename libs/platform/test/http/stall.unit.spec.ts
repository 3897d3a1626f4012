import type { FastifyInstance } from 'fastify';
import { refuseAfterStall, STALL_MS } from '#platform/http/request-hooks.js';
import { RefusedRequestError } from '#platform/http/refused-request.js';

type Hook = (request: object, reply: object, done: (error?: Error) => void) => void;

describe('a request in a long turn of the event loop', () => {
  it('is refused after the stall time, although other requests ran before it in the same turn', async () => {
    const hooks = new Map<string, Hook>();
    const fastify = { addHook: (name: string, hook: Hook) => hooks.set(name, hook) };
    let time = 0;
    refuseAfterStall(fastify as unknown as Pick<FastifyInstance, 'addHook'>, () => time);
    const request = (): Error | undefined => {
      let refusal: Error | undefined;
      hooks.get('onRequest')?.({}, {}, (error) => (refusal = error));
      return refusal;
    };
    // The test is synchronous, so no timer runs in between.
    const inTime = [0, STALL_MS / 2, STALL_MS].map((at) => {
      time = at;
      return request();
    });
    expect(inTime).toEqual([undefined, undefined, undefined]);
    time = STALL_MS + 1;
    expect(request()).toBeInstanceOf(RefusedRequestError);
    hooks.get('onClose')?.({}, {}, () => undefined);
  });
});
