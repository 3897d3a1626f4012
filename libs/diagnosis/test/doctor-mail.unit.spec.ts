import { examineMails } from '#diagnosis/delivery.checks.js';
import type { ServiceStatus } from '#platform/status/status-report.js';

const NONE = { count: 0, since: null, answer: null, expired: 0 };
const status = (mail?: ServiceStatus['mail']): ServiceStatus => ({
  service: 'token',
  instance: 'host:1',
  version: '1',
  started_at: '2026-06-01T12:00:00Z',
  time: '2026-06-01T12:00:00Z',
  ...(mail && { mail }),
});

describe('the mail area of doctor', () => {
  it('reports nothing while mails are sent', () => {
    expect(examineMails(NONE, [status({ transport: 'smtp', failure: null }), status()])).toEqual([]);
  });

  it('reports a mail server that refuses the login', () => {
    const failure = 'the mail server refuses the login (535)';
    expect(examineMails(NONE, [status({ transport: 'smtp', failure })])).toMatchObject([
      { check: 'mail-unsendable', subject: expect.stringContaining('token'), problem: failure },
    ]);
  });

  it('reports waiting mails with the latest answer, or the missing setting', () => {
    const waiting = { ...NONE, count: 2, since: new Date('2026-06-01T11:00:00Z') };
    const problemOf = (...args: Parameters<typeof examineMails>) => examineMails(...args)[0]?.problem;
    expect(problemOf({ ...waiting, answer: 'refused (451)' }, [])).toBe(
      '2 wait, since 2026-06-01T11:00:00.000Z: refused (451)',
    );
    expect(problemOf(waiting, [status()])).toMatch(/no token app has DEVELOPERS_URL$/);
  });

  it('reports mails given up', () => {
    expect(examineMails({ ...NONE, expired: 3 }, [])).toMatchObject([{ check: 'mails-given-up' }]);
  });
});
