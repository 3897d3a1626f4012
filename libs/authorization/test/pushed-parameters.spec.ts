import fc from 'fast-check';
import { LIMITS } from '#authorization/limits.js';
import { pushedParameters } from '#authorization/pushed-parameters.js';
import { RequestParameters } from '#authorization/request-parameters.js';

const value = fc.string({ unit: 'binary', maxLength: 60 }).filter((text) => !/\p{Cc}/u.test(text));
const body = fc.record(
  {
    redirect_uri: value,
    response_type: value,
    state: value,
    scope: value,
    code_challenge: value,
    other: value,
  },
  { requiredKeys: [] },
);

describe('pushed parameters', () => {
  it('come back from their query string as they were sent, and no others do', () => {
    fc.assert(
      fc.property(body, (sent) => {
        const query = pushedParameters(RequestParameters.fromBody(sent), 'sc_a');
        const kept = RequestParameters.fromQuery(query);
        expect(kept.get('client_id', 255)).toBe('sc_a');
        expect(kept.get('other', 255)).toBeUndefined();
        for (const name of ['redirect_uri', 'response_type', 'state', 'scope', 'code_challenge'] as const)
          expect(kept.get(name, LIMITS[name])).toBe(sent[name] || undefined);
      }),
    );
  });

  it('name the client that authenticated, whatever the body says', () => {
    const parameters = RequestParameters.fromBody({ client_id: 'sc_b', state: 's' });
    expect(pushedParameters(parameters, 'sc_a')).toBe('client_id=sc_a&state=s');
  });

  it('are never more than the limits allow', () => {
    const parameters = RequestParameters.fromBody({ state: 'x'.repeat(LIMITS.state + 1) });
    expect(() => pushedParameters(parameters, 'sc_a')).toThrow('longer than');
  });
});
