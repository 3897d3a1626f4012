import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { generateRequestUri, pushedRequestId } from '#oauth/pushed-request.js';

const PREFIX = 'urn:ietf:params:oauth:request_uri:';

describe('a request URI (RFC 9126 2.2)', () => {
  it('carries 256 random bits', () => {
    const sizes: number[] = [];
    const uri = generateRequestUri((size) => {
      sizes.push(size);
      return Buffer.alloc(size, 0xff);
    });
    expect(sizes).toEqual([32]);
    expect(uri).toBe(PREFIX + Buffer.alloc(32, 0xff).toString('base64url'));
  });

  it('has the SHA-256 of its reference as id', () => {
    const uri = generateRequestUri();
    const reference = uri.slice(PREFIX.length);
    expect(pushedRequestId(uri)).toBe(createHash('sha256').update(reference).digest('base64url'));
  });

  it('has another id or none after any change', () => {
    const uri = generateRequestUri();
    const id = pushedRequestId(uri);
    fc.assert(
      fc.property(fc.nat(uri.length - 1), fc.string({ maxLength: 2 }), (at, text) => {
        const changed = uri.slice(0, at) + text + uri.slice(at + 1);
        fc.pre(changed !== uri);
        expect(pushedRequestId(changed)).not.toBe(id);
      }),
    );
  });

  it.each([
    '',
    'https://client.example/request.jwt',
    PREFIX,
    `${PREFIX}short`,
    PREFIX.toUpperCase() + 'x'.repeat(43),
  ])('cannot be %j', (text) => {
    expect(pushedRequestId(text)).toBeNull();
  });
});
