import { readFile } from 'node:fs/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { AUDIT_TYPES, auditEvent, auditSubject } from '#audit/event.js';

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
