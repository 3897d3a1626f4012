import { Refusals } from '#introspection/refusals.js';

const options = { natsUrl: 'nats://localhost', resourceMetadata: 'https://api.example.com/metadata' };

function challengeOf(resourceUrl: string | undefined, route: Parameters<Refusals['missingToken']>[1]) {
  let challenge = '';
  const response = { header: (_name: string, value: string) => void (challenge = value) };
  new Refusals({ ...options, resourceUrl }).missingToken(response, route);
  return challenge;
}

// @rfc 6750 3 @rfc 9728 5.1
describe('a challenge', () => {
  it('names the scope that the route requires, for both schemes', () => {
    const challenge = challengeOf('https://api.example.com', { scope: 'a b' });
    expect(challenge).toMatch(/^Bearer scope="a b", .*, DPoP scope="a b", /);
  });

  it('names the metadata of the API if the route has none', () => {
    expect(challengeOf(undefined, {})).toBe(`Bearer resource_metadata="${options.resourceMetadata}"`);
  });

  it.each([
    ['https://api.example.com', '/.well-known/x/notes', 'https://api.example.com/.well-known/x/notes'],
    ['https://api.example.com/v2', '/.well-known/x/v2', 'https://api.example.com/.well-known/x/v2'],
    ['https://api.example.com', 'https://other.example.com/m', 'https://other.example.com/m'],
    [undefined, '/.well-known/x/notes', 'https://api.example.com/.well-known/x/notes'],
  ])('names the metadata of the route: at %s, %s', (resourceUrl, metadata, expected) => {
    expect(challengeOf(resourceUrl, { metadata })).toContain(`Bearer resource_metadata="${expected}"`);
  });
});
