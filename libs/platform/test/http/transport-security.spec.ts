import { createBareService, THING } from '../support/bare-service.js';

async function headersAt(publicUrl: string): Promise<Headers> {
  const app = await createBareService(THING, { publicUrl });
  await app.listen(0, '127.0.0.1');
  const { headers } = await fetch(`${await app.getUrl()}/thing`);
  await app.close();
  return headers;
}

describe('Strict-Transport-Security (RFC 6797)', () => {
  it('is sent if the public URL is https (7.1)', async () => {
    const headers = await headersAt('https://api.example.com');
    expect(headers.get('strict-transport-security')).toMatch(/^max-age=\d{8}/);
  });

  it('is not sent if the public URL is http (7.2)', async () => {
    const headers = await headersAt('http://api.example.com');
    expect(headers.has('strict-transport-security')).toBe(false);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });
});

describe('the security headers of an API', () => {
  it('include only headers that apply to JSON', async () => {
    const headers = await headersAt('https://api.example.com');
    const unrelated = /^(connection|content-length|content-type|date|keep-alive)$/;
    expect([...headers.keys()].filter((name) => !unrelated.test(name)).toSorted()).toEqual([
      'cache-control',
      'content-security-policy',
      'referrer-policy',
      'strict-transport-security',
      'x-content-type-options',
      'x-frame-options',
    ]);
  });
});
