import request from 'supertest';

/**
 * Headers that clients in a browser send to these endpoints beyond those that need no leave (Fetch, "CORS-safelisted").
 * The SDKs of the Model Context Protocol send theirs with both kinds of metadata.
 */
export const BROWSERS_SEND = ['authorization', 'content-type', 'dpop', 'mcp-protocol-version'];

/** Asks as a browser does before a script's request. @returns those of the headers that the script may not send */
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
