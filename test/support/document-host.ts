import type { ServerResponse } from 'node:http';
import { serve } from './http-server.js';

type Answer = (response: ServerResponse) => void;

export type DocumentHost = Awaited<ReturnType<typeof startDocumentHost>>;

/**
 * Hosts metadata documents of clients. Must start before the app, because the app's CLIENT_METADATA_HOSTS contains the
 * address of this host.
 */
export async function startDocumentHost() {
  const answers = new Map<string, Answer>();
  const requests: string[] = [];
  let count = 0;
  const { url: origin, close } = await serve((request, response) => {
    requests.push(request.url ?? '');
    const answer = answers.get(request.url ?? '');
    if (answer) answer(response);
    else response.writeHead(404).end();
  });
  const { host } = new URL(origin);
  const pathOf = (url: string): string => new URL(url).pathname;

  return {
    host,
    /** Variables of an app that accepts clients of this host. */
    settings: { CLIENT_METADATA_HOSTS: host, OUTSIDE_FETCH_ALLOW: '127.0.0.1' } as const,
    newUrl: (): string => `http://${host}/client-${++count}.json`,
    /** Publishes a document; by default, a document of a valid public client. */
    publish(url: string, members: object = {}, headers: Readonly<Record<string, string>> = {}): string {
      const document = {
        client_id: url,
        client_name: 'Inspector',
        redirect_uris: ['http://127.0.0.1/callback'],
        token_endpoint_auth_method: 'none',
        ...members,
      };
      this.answer(url, (response) =>
        response
          .writeHead(200, { 'Content-Type': 'application/json', ...headers })
          .end(JSON.stringify(document)),
      );
      return url;
    },
    answer: (url: string, answer: Answer): unknown => answers.set(pathOf(url), answer),
    fetches: (url: string): number => requests.filter((path) => path === pathOf(url)).length,
    get requests(): number {
      return requests.length;
    },
    close,
  };
}
