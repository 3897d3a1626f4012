import { checkDpopKey } from '#oauth/authorization/check-dpop-key.js';
import { RequestParameters } from '#oauth/authorization/request-parameters.js';
import { DpopKey } from '#testing/dpop-key.js';

const check = (query: string) => checkDpopKey(RequestParameters.fromQuery(query));

describe('dpop_jkt (RFC 9449 10)', () => {
  it('is the thumbprint of a key, or absent', async () => {
    const { jkt } = await DpopKey.generate();
    expect(check(`dpop_jkt=${jkt}`)).toBe(jkt);
    expect(check('')).toBeNull();
    expect(check('dpop_jkt=')).toBeNull();
  });

  it.each([
    'x',
    'A'.repeat(42),
    'A'.repeat(44),
    `${'A'.repeat(43)}%3D`,
    `${'A'.repeat(42)}B`,
    `${'A'.repeat(42)}%2B`,
    'A'.repeat(300),
  ])('is refused as anything else: %s', (jkt) => {
    expect(() => check(`dpop_jkt=${jkt}`)).toThrow(
      expect.objectContaining({ code: 'invalid_request', status: 400 }),
    );
  });
});
