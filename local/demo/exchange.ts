import { continuationOf, type CookieJar } from './html-form.js';
import { StepFailure, type Transcript } from './transcript.js';

const TIMEOUT_MS = 10_000;

export interface Request {
  url: string | URL;
  headers?: Readonly<Record<string, string>> | undefined;
  /** Sent by POST as application/x-www-form-urlencoded. */
  form?: Readonly<Record<string, string>> | undefined;
  /** Cookies of the browser that sends the request. A browser requests HTML instead of JSON. */
  browser?: CookieJar;
}

/** Response to one request. Redirects are not followed. */
export interface Answer {
  status: number;
  /** Absolute target of a redirect, or of a page that continues by itself. */
  location: URL | null;
  text: string;
  /** Empty if the body is not a JSON object. */
  json: Readonly<Record<string, unknown>>;
}

/**
 * Sends and prints a request, and prints the response.
 * @throws StepFailure if no response arrives within ten seconds
 */
export async function exchange(transcript: Transcript, request: Request): Promise<Answer> {
  const { headers = {}, form = {}, browser } = request;
  const method = request.form ? 'POST' : 'GET';
  const url = new URL(request.url);
  const cookies = browser?.header();
  const sent = [...url.searchParams, ...Object.entries(headers), ...Object.entries(form)];
  transcript.traffic('→', `${method} ${url.origin}${url.pathname}`, sent);

  let response: Response;
  let text: string;
  try {
    response = await fetch(url, {
      method,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: {
        Accept: browser ? 'text/html' : 'application/json',
        ...(cookies !== undefined && { Cookie: cookies }),
        ...headers,
      },
      ...(request.form && { body: new URLSearchParams(form) }),
    });
    text = await response.text();
  } catch (cause) {
    const { code, name } = ((cause as Error).cause ?? cause) as { code?: string; name: string };
    throw new StepFailure(
      `an answer from ${url.origin}`,
      `none (${code ?? name}): is npm start still running?`,
      {
        cause,
      },
    );
  }

  const target = response.headers.get('location') ?? continuationOf(text);
  const answer: Answer = {
    status: response.status,
    location: target === null ? null : new URL(target, url),
    text,
    json: parseObject(text),
  };
  const names = browser?.store(response.headers.getSetCookie()) ?? [];
  transcript.traffic('←', `${response.status} ${response.statusText}`.trim(), answerParts(answer, names));
  return answer;
}

function answerParts({ location, text, json }: Answer, cookies: readonly string[]): [string, string][] {
  const parts: [string, string][] = cookies.map((name) => ['Set-Cookie', `${name}=…`]);
  const title = /<title>(.*?)<\/title>/is.exec(text)?.[1];
  if (title !== undefined) parts.push(['page', title.trim()]);
  if (location) parts.push([title === undefined ? 'Location' : 'continues at', location.href]);
  return [...parts, ...fields(json)];
}

/** Flattens nested objects to names such as `data.name`. */
function fields(json: Readonly<Record<string, unknown>>, prefix = ''): [string, string][] {
  return Object.entries(json).flatMap(([name, value]): [string, string][] =>
    typeof value === 'object' && value !== null
      ? fields(value as Record<string, unknown>, `${prefix}${name}.`)
      : [[`${prefix}${name}`, String(value)]],
  );
}

/** Returns an empty object for text that is not JSON, or whose value is not an object. */
export function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
