import request from 'supertest';

/** Headers of MCP SDKs, okta-auth-js, axios, and tracing libraries that are not CORS-safelisted (Fetch). */
const BROWSERS_SEND = [
  'authorization',
  'baggage',
  'content-type',
  'dpop',
  'mcp-protocol-version',
  'sentry-trace',
  'traceparent',
  'x-okta-user-agent-extended',
  'x-requested-with',
];

/** Sends a CORS preflight request. @returns the headers that the response does not allow */
export async function refusedByPreflight(
  server: Parameters<typeof request>[0],
  method: 'GET' | 'POST',
  path: string,
): Promise<string[]> {
  const answer = await request(server)
    .options(path)
    .set({
      Origin: 'https://spa.example.com',
      'Access-Control-Request-Method': method,
      'Access-Control-Request-Headers': BROWSERS_SEND.join(','),
    });
  const listed = (name: string) =>
    (answer.headers[`access-control-allow-${name}`] ?? '').toLowerCase().split(/, */);
  if (
    answer.status !== 204 ||
    !listed('origin').includes('*') ||
    !listed('methods').includes(method.toLowerCase())
  )
    throw new Error(`${path} refuses ${method} to browsers`);
  return BROWSERS_SEND.filter((header) => !listed('headers').includes(header));
}
