import request, { type Response, type Test } from 'supertest';

type Fields = Readonly<Record<string, string>>;

export interface Form {
  readonly action: string;
  /** Hidden fields. */
  readonly fields: Fields;
}

/** Minimal browser over real HTTP with cookies and forms. It does not follow redirects automatically. */
export class Browser {
  readonly cookies = new Map<string, string>();

  constructor(private readonly server: Parameters<typeof request>[0]) {}

  get(path: string, headers: Fields = {}): Promise<Response> {
    return this.send(request(this.server).get(path), headers);
  }

  post(path: string, fields: Fields, headers: Fields = {}): Promise<Response> {
    return this.send(request(this.server).post(path).type('form'), headers, new URLSearchParams(fields));
  }

  /** Submits the first form of a page whose action begins with `action`. */
  submit(page: Response, fields: Fields, action = '/auth/'): Promise<Response> {
    const form = formsOf(page.text).find((candidate) => candidate.action.startsWith(action));
    if (!form) throw new Error(`no form for ${action} in a page of status ${page.status}`);
    return this.post(form.action, { ...form.fields, ...fields });
  }

  /** Requests the Location of a response. */
  follow({ headers }: Response): Promise<Response> {
    return this.get(headers['location'] ?? '');
  }

  private async send(test: Test, headers: Fields, body?: URLSearchParams): Promise<Response> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    if (cookie !== '') test.set('Cookie', cookie);
    test.set(headers);
    const response = await (body === undefined ? test : test.send(body.toString()));
    for (const header of (response.headers['set-cookie'] ?? []) as unknown as string[]) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(header) ?? [];
      if (/max-age=0/i.test(header)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return response;
  }
}

/** Returns the visible text of a page. */
export function wordsOf({ text }: { text: string }): string {
  return text
    .slice(text.indexOf('<main>'))
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll(/\s+/g, ' ');
}

/** Returns the text of a page's status message. */
export const statusOf = ({ text }: { text: string }): string | undefined =>
  /<p role="status"[^>]*>(.*?)<\/p>/.exec(text)?.[1];

export function formsOf(page: string): Form[] {
  return [...page.matchAll(/<form[^>]*action="([^"]*)"[^>]*>([\s\S]*?)<\/form>/g)].map(
    ([, action = '', content = '']) => ({
      action: unescape(action),
      fields: Object.fromEntries(
        [...content.matchAll(/<input\s[^>]*type="hidden"[^>]*>/g)].map(([input]) => [
          attribute(input, 'name'),
          attribute(input, 'value'),
        ]),
      ),
    }),
  );
}

function attribute(element: string, name: string): string {
  return unescape(new RegExp(`${name}="([^"]*)"`).exec(element)?.[1] ?? '');
}

function unescape(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&#96;', '`')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
