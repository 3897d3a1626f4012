export const APIS = {
  API_URL: 'https://api.example.com',
  OTHER_API_URLS: ' https://bookings.example.com:8443,',
};

/** Encoded `resource` parameters (RFC 8707). */
export const KNOWN_RESOURCES: readonly [name: string, encoded: string][] = [
  ['the API itself', 'resource=https%3A%2F%2Fapi.example.com'],
  ['the API with a slash, as URL classes write it', 'resource=https%3A%2F%2Fapi.example.com%2F'],
  ['an address of the API', 'resource=https://api.example.com/v2/me'],
  ['the API with a query', 'resource=https://api.example.com/v2?tenant=7'],
  ['the API with its default port', 'resource=https://API.example.com:443'],
  ['two APIs', 'resource=https://api.example.com&resource=https://bookings.example.com:8443/'],
  ['the API twice', 'resource=https://api.example.com&resource=https://api.example.com'],
  ['an empty value', 'resource='],
  ['an empty value and the API', 'resource=&resource=https://api.example.com'],
];

export const UNKNOWN_RESOURCES: readonly [name: string, encoded: string][] = [
  ['another server', 'resource=https://other.example.com'],
  ['another port', 'resource=https://api.example.com:8443'],
  ['the API over http', 'resource=http://api.example.com'],
  ['a host that begins with the API’s host', 'resource=https://api.example.com.evil.example'],
  ['a URL with a user name', 'resource=https://a@api.example.com/'],
  ['the API and another server', 'resource=https://api.example.com&resource=https://other.example.com'],
  ['a URL with a fragment', 'resource=https://api.example.com/%23a'],
  ['a URL with an empty fragment', 'resource=https://api.example.com/%23'],
  ['a relative URL', 'resource=/v2/me'],
  ['a URL without a scheme', 'resource=api.example.com'],
  ['a URN', 'resource=urn:example:api'],
  ['a value that is not a URI', 'resource=https://'],
  ['a URL with a line break', 'resource=https://api.example.com/%0a'],
  ['an over-long URL', `resource=https://api.example.com/${'x'.repeat(2_000)}`],
  ['a nested parameter', 'resource[a]=https://api.example.com'],
];
