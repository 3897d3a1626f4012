import { Refusals } from '#introspection/refusals.js';

it('an error that is not an outage of the token app stays as it is, without Retry-After', () => {
  const refusals = new Refusals({ natsUrl: 'nats://localhost' });
  const headers: string[] = [];
  const response = { header: (name: string) => void headers.push(name) };
  const error = new TypeError('a fault of ours');
  expect([refusals.failure(response, error), refusals.dpop(response, error)]).toEqual([error, error]);
  expect(headers).toEqual([]);
});
