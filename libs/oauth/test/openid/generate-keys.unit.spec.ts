import { generateIdTokenKeys, publicIdTokenKeys } from '#oauth/openid/generate-keys.js';
import { SIGNING_ALGORITHMS, SigningKeys } from '#oauth/openid/signing-keys.js';

const ISSUER = 'https://base.example.com';

describe('generated keys of ID tokens', () => {
  let generated: string;
  beforeAll(async () => {
    generated = await generateIdTokenKeys();
  });

  it('are one private key of each algorithm, on one line', () => {
    const keys = SigningKeys.parse(generated);
    expect(keys.canSign).toBe(true);
    expect(keys.ids.map(({ alg }) => alg)).toEqual(SIGNING_ALGORITHMS);
    expect(generated).not.toContain('\n');
  });

  it('have public keys with the same ids, which cannot sign', () => {
    const [pair, published] = [SigningKeys.parse(generated), SigningKeys.parse(publicIdTokenKeys(generated))];
    expect(published.canSign).toBe(false);
    expect(published.ids).toEqual(pair.ids);
    expect(JSON.parse(publicIdTokenKeys(generated))).toEqual(pair.jwks);
    expect(() => published.privateJwks).toThrow('has no private key');
  });

  it.each(SIGNING_ALGORITHMS)('sign %s, which the public keys verify', async (alg) => {
    const token = await SigningKeys.parse(generated).sign({ iss: ISSUER, sub: '1' }, alg);
    const published = SigningKeys.parse(publicIdTokenKeys(generated));
    expect(await published.verify(token, ISSUER)).toEqual({ iss: ISSUER, sub: '1' });
    expect(await published.verify(token, 'https://other.example.com')).toBe('iss');
    expect(await SigningKeys.parse(await generateIdTokenKeys()).verify(token, ISSUER)).toBe('kid');
  });
});
