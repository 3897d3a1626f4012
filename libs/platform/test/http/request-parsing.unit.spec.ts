import fc from 'fast-check';
import { requestTarget } from '#platform/http/request-parsing.js';

it('a routed path can be decoded for every request target', () => {
  const part = fc.oneof(
    fc.constantFrom('/', '?', '#', ':', '@', '%'),
    fc.constantFrom('%41', '%c3', '%a9', '%zz', 'http://a'),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      const [path = ''] = requestTarget({ url: parts.join('') }).split('?', 1);
      const decoded = path.split('#').map((piece) => decodeURIComponent(piece));
      expect(decoded[0]).toMatch(/^\//);
    }),
  );
});
