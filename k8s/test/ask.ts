import { type ClientRequest, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** A request of an external client: to the ingress, with verified TLS and SNI. */
export interface Asking {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  /** The client's address in the loopback network. */
  readonly from?: string;
}

/** Sends a request for the URL to a local port. @param ca the CA that must have issued the server's certificate */
export function ask(
  url: URL,
  port: number,
  ca: Buffer,
  { headers = {}, ...asking }: Asking = {},
): Promise<Answer> {
  const { hostname } = url;
  return answerTo(
    httpsRequest({
      ...optionsOf({ hostname: '127.0.0.1', port, path: url.pathname + url.search, ...asking }),
      servername: hostname,
      ca,
      headers: { host: hostname, ...lengthOf(asking.body), ...headers },
    }),
    asking.body,
  );
}

/** Sends the request directly to the app, from another local address. */
export function askDirectly(to: Asking & Target): Promise<Answer> {
  const headers = { ...lengthOf(to.body), ...to.headers };
  return answerTo(httpRequest({ ...optionsOf(to), headers }), to.body);
}

interface Target {
  readonly hostname: string;
  readonly port: number;
  readonly path: string;
}

function optionsOf({ hostname, port, path, method = 'GET', from }: Asking & Target) {
  return { hostname, port, path, method, ...(from && { localAddress: from }), agent: false as const };
}

function lengthOf(body: string | undefined): Record<string, string> {
  return body === undefined ? {} : { 'content-length': String(body.length) };
}

function answerTo(asked: ClientRequest, body: string | undefined): Promise<Answer> {
  return new Promise((resolve, reject) => {
    asked.on('response', (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
      );
    });
    asked.on('error', reject).end(body);
  });
}
