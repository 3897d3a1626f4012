import { INVALIDATIONS, isRequest, parseReply, SUBJECTS } from '#messaging/contract.js';
import { MalformedMessageError } from '#messaging/nats-message.js';

const GRANT = 'g'.repeat(43);
const JKT = 'k'.repeat(43);

describe('a broadcast', () => {
  const tag = (subject: string, event: unknown) => INVALIDATIONS[subject]?.(event);

  it('names the cache entries to evict', () => {
    expect(tag(SUBJECTS.grantRevoked, { grant_id: GRANT, later: 1 })).toBe(`grant:${GRANT}`);
    expect(tag(SUBJECTS.clientChanged, { client_id: 'sc_a' })).toBe('client:sc_a');
    expect(tag(SUBJECTS.userChanged, { user_id: 7 })).toBe('user:7');
  });

  it.each([
    [SUBJECTS.grantRevoked, {}],
    [SUBJECTS.grantRevoked, null],
    [SUBJECTS.clientChanged, { client_id: 7 }],
    [SUBJECTS.userChanged, { user_id: '7' }],
  ])('on %s is rejected with the body %j', (subject, event) => {
    expect(() => tag(subject, event)).toThrow(MalformedMessageError);
  });
});

describe('a reply', () => {
  const active = { active: true, grant_id: GRANT, client_id: 'sc_a', sub: '7', scope: 'a b', exp: 1 };

  it('may contain fields of later versions', () => {
    expect(parseReply.introspect({ ...active, later: 1 })).toMatchObject(active);
    expect(parseReply.introspect({ active: false, later: 1 })).toMatchObject({ active: false });
    expect(parseReply.consumeProof({ outcome: 'consumed', later: 1 })).toMatchObject({ outcome: 'consumed' });
    expect(parseReply.profile({ user: null })).toEqual({ user: null });
    expect(parseReply.claims({ claims: null, later: 1 })).toMatchObject({ claims: null });
    expect(parseReply.claims({ claims: { sub: '7', later: {} } })).toMatchObject({ claims: { sub: '7' } });
  });

  it.each([{}, { active: 'true' }, { ...active, sub: '' }, { ...active, sub: 'x' }, { ...active, exp: '1' }])(
    'to introspection is rejected with the body %j',
    (reply) => expect(() => parseReply.introspect(reply)).toThrow(MalformedMessageError),
  );

  it.each([{}, { claims: undefined }, { claims: {} }, { claims: { sub: '' } }, { claims: { sub: 7 } }])(
    'to a request for claims is rejected with the body %j',
    (reply) => expect(() => parseReply.claims(reply)).toThrow(MalformedMessageError),
  );

  it('about a DPoP proof is rejected if its outcome is unknown', () => {
    for (const outcome of [undefined, 'spent', true])
      expect(() => parseReply.consumeProof({ outcome })).toThrow(MalformedMessageError);
  });
});

describe('a request', () => {
  it('must match the interface of its subject', () => {
    const proof = { jkt: JKT, jti: 'one', expires_at: 1 };
    expect(isRequest(SUBJECTS.introspect, { token: 't', jkt: JKT, proof })).toBe(true);
    expect(isRequest(SUBJECTS.introspect, { token: 't', jkt: 'short' })).toBe(false);
    expect(isRequest(SUBJECTS.consumeProof, proof)).toBe(true);
    expect(isRequest(SUBJECTS.claims, { user_id: 7, client_id: 'sc_a' })).toBe(true);
    expect(isRequest(SUBJECTS.claims, { user_id: 7 })).toBe(false);
    expect(isRequest(SUBJECTS.applyRevocations, { client_id: 'sc_a', user_id: 7 })).toBe(false);
    expect(isRequest('oauth.unknown', {})).toBe(false);
  });
});
