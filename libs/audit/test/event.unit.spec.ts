import { readFile } from 'node:fs/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { AUDIT_TYPES, auditEvent, auditSubject } from '#audit/event.js';
import { parseTime } from '#audit/operations/audit.dto.js';

const schemaFile = async () => JSON.parse(await readFile('docs/schemas/oauth.audit.json', 'utf8')) as object;

describe('an event of the audit trail', () => {
  it('matches its JSON Schema, which lists every type', async () => {
    const schema = await schemaFile();
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
    for (const type of AUDIT_TYPES) {
      const request = { method: 'GET', path: '/' };
      const event = auditEvent('token', { type, client_id: 'a', user_id: 1, status: 200, request });
      expect([validate(event), validate.errors]).toEqual([true, null]);
    }
    expect(schema).toMatchObject({ properties: { type: { examples: AUDIT_TYPES } } });
    expect(validate({ ...auditEvent('token', { type: 'token.issued' }), user_id: null })).toBe(false);
  });

  it('has a type that docs/audit.md describes', async () => {
    const text = await readFile('docs/audit.md', 'utf8');
    expect(AUDIT_TYPES.filter((type) => !text.includes(`\`${type}\``))).toEqual([]);
  });

  it('has a refusal subject if anyone can cause the event', () => {
    const refusals = AUDIT_TYPES.filter((type) =>
      auditSubject({ service: 'token', type }).startsWith('oauth.refusal.'),
    );
    expect(refusals).toEqual(['login.refused', 'request.throttled', 'request.refused']);
  });

  it('has a trail subject if operators, the product or attacks cause the event', () => {
    const trail = AUDIT_TYPES.filter((type) =>
      auditSubject({ service: 'token', type }).startsWith('oauth.audit.'),
    );
    expect(trail.filter((type) => /^(login|consent|grant)\./.test(type))).toEqual([]);
    expect(trail).toEqual(
      expect.arrayContaining(['operator.command', 'token.reuse_detected', 'user.disabled']),
    );
  });

  it('has a unique id', () => {
    const ids = [1, 2, 3].map(() => auditEvent('token', { type: 'token.issued' }).id);
    expect(new Set(ids).size).toBe(3);
  });
});

const AT = Date.parse('2026-11-22T18:00:00.000Z');

describe('parseTime', () => {
  it.each([
    ['90s', '2026-11-22T17:58:30.000Z'],
    ['1h', '2026-11-22T17:00:00.000Z'],
    ['2d', '2026-11-20T18:00:00.000Z'],
    ['1w', '2026-11-15T18:00:00.000Z'],
    ['2026-11-20', '2026-11-20T00:00:00.000Z'],
    ['2026-11-20T10:00Z', '2026-11-20T10:00:00.000Z'],
    ['2026-11-20T10:00:00+02:00', '2026-11-20T08:00:00.000Z'],
    // NATS rejects a year with a sign, which also breaks the comparison of times as text.
    ['999999w', '1970-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59-12:00', '9999-12-31T23:59:59.999Z'],
  ])('reads %s as %s', (text, moment) => {
    expect(parseTime(text, AT)?.toISOString()).toBe(moment);
  });

  it.each(['', '1', 'h', '-1h', '1y', 'yesterday', '2026-13-01', '2026-11-20T10:00'])(
    'rejects %j',
    (text) => {
      expect(parseTime(text, AT)).toBeNull();
    },
  );
});
