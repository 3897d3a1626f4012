import request, { type Response, type Test } from 'supertest';

type Fields = Readonly<Record<string, string>>;

/** A form as it stands in a page. */
export interface Form {
  readonly action: string;
  /** Hidden fields. */
  readonly fields: Fields;
}

/** A small browser over real HTTP: keeps cookies, reads forms, sends them. It follows no redirect by itself. */
export class Browser {
  readonly cookies = new Map<string, string>();

  constructor(private readonly server: Parameters<typeof request>[0]) {}

  get(path: string, headers: Fields = {}): Promise<Response> {
    return this.send(request(this.server).get(path), headers);
  }

  post(path: string, fields: Fields, headers: Fields = {}): Promise<Response> {
    return this.send(request(this.server).post(path).type('form'), headers, new URLSearchParams(fields));
  }

  /** Sends a page's form; the one whose action begins with `action` when there are several. */
  submit(page: Response, fields: Fields, action = '/auth/'): Promise<Response> {
    const form = formsOf(page.text).find((candidate) => candidate.action.startsWith(action));
    if (!form) throw new Error(`no form for ${action} in a page of status ${page.status}`);
    return this.post(form.action, { ...form.fields, ...fields });
  }

  /** Goes where the last answer points, on this site. */
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

/** The text of a page as a person reads it. */
export function wordsOf({ text }: { text: string }): string {
  return text
    .slice(text.indexOf('<main>'))
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll(/\s+/g, ' ');
}

/** What a page says that has happened. */
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
