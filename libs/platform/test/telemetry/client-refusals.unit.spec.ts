import { ClientRefusals } from '#platform/telemetry/client-refusals.js';

function counting() {
  let now = 0;
  const refusals = new ClientRefusals(() => now);
  const refuse = (clientId: string, count: number, error = 'invalid_grant') => {
    for (let n = 0; n < count; n++) refusals.count(clientId, error);
  };
  return { refusals, refuse, later: (minutes: number) => (now += minutes * 60_000) };
}

describe('the refusals of the client with the most of them', () => {
  it('are not the sum of all clients', () => {
    const { refusals, refuse } = counting();
    for (let n = 0; n < 100; n++) refuse(`client ${n}`, 2);
    expect(refusals.max).toBe(2);
    refuse('client 7', 20);
    expect(refusals.max).toBe(22);
  });

  it('stay for the next minute, and are then forgotten', () => {
    const { refusals, refuse, later } = counting();
    refuse('one', 5);
    later(1);
    refuse('one', 1);
    expect(refusals.max).toBe(5);
    later(1);
    expect(refusals.max).toBe(1);
    later(2);
    expect(refusals.max).toBe(0);
  });

  it('do not include polls of a device, and users who decline', () => {
    const { refusals, refuse } = counting();
    for (const error of ['authorization_pending', 'slow_down', 'login_required', 'access_denied'])
      refuse('one', 9, error);
    expect(refusals.max).toBe(0);
  });

  it('remain known while a caller makes up clients, in bounded memory', () => {
    const { refusals, refuse } = counting();
    for (let n = 0; n < 5_000; n++) {
      refuse(`invented ${n}`, 1);
      if (n % 100 === 0) refuse('one', 1);
    }
    expect(refusals.max).toBe(50);
  });
});
