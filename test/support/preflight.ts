import request from 'supertest';

/**
 * Headers of browser clients that are not CORS-safelisted (Fetch). MCP SDKs send the last one even for the metadata.
 */
const BROWSERS_SEND = ['authorization', 'content-type', 'dpop', 'mcp-protocol-version'];

/** Sends a CORS preflight request. @returns the headers that the response does not allow */
export async function refusedByPreflight(
  server: Parameters<typeof request>[0],
  method: 'GET' | 'POST',
  path: string,
  headers: readonly string[] = BROWSERS_SEND,
): Promise<string[]> {
  const answer = await request(server)
    .options(path)
    .set({
      Origin: 'https://spa.example.com',
      'Access-Control-Request-Method': method,
      'Access-Control-Request-Headers': headers.join(','),
    });
  const listed = (name: string) =>
    (answer.headers[`access-control-allow-${name}`] ?? '').toLowerCase().split(/, */);
  if (
    answer.status !== 204 ||
    !listed('origin').includes('*') ||
    !listed('methods').includes(method.toLowerCase())
  )
    throw new Error(`${path} refuses ${method} to browsers`);
  return headers.filter((header) => !listed('headers').includes(header));
}
