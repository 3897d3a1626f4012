import { connect } from 'node:net';

/**
 * Sends raw bytes (Latin-1), for requests that an HTTP library refuses to send.
 *
 * @returns everything received until the server closes the connection
 */
export function exchange(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(Buffer.from(text, 'latin1')));
    let answer = '';
    socket.on('data', (bytes) => (answer += bytes.toString('latin1')));
    socket.on('end', () => resolve(answer)).on('error', reject);
  });
}

/** Headers of an HTTP/1.1 request without exactly one Host (RFC 9112 3.2). */
export const AMBIGUOUS_HOSTS: readonly (readonly [name: string, head: string])[] = [
  ['two Host headers', 'Host: a.example\r\nHost: b.example\r\n'],
  ['the same Host header twice', 'Host: a.example\r\nX: 1\r\nhost: a.example\r\n'],
  ['two Host headers, one of them empty', 'Host:\r\nHost: a.example\r\n'],
  [
    'a second Host header behind 2 000 others',
    `Host: a.example\r\n${'a:\r\n'.repeat(2_000)}Host: b.example\r\n`,
  ],
  ['no Host header', 'X-Forwarded-Host: a.example\r\n'],
];
