import { StepFailure } from './transcript.js';

export interface Form {
  /** Value of the attribute, unresolved; empty if the attribute is absent. */
  action: string;
  hidden: Record<string, string>;
  fields: Record<string, string>;
  /** Names of inputs, and `name=value` of buttons. */
  controls: string[];
}

export type PageForm = Omit<Form, 'action'> & { action: URL };

/** @param control name of an input, or `name=value` of a button @throws StepFailure if the page has no such form */
export function findForm(html: string, page: URL, control: string): PageForm {
  const form = formsOf(html).find(({ controls }) => controls.includes(control));
  // A form without an action is submitted to the URL of its page, with its query (HTML 4.10.21.3).
  if (form) return { ...form, action: form.action ? new URL(form.action, page) : page };
  const heading = /<h1[^>]*>(.*?)<\/h1>/is.exec(html)?.[1]?.trim() ?? 'no heading';
  throw new StepFailure(`a form with ${control}`, `the page "${heading}"`);
}

export function formsOf(html: string): Form[] {
  return [...html.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gis)].map(([, attributes = '', inside = '']) => {
    const form: Form = {
      action: attribute(attributes, 'action') ?? '',
      hidden: {},
      fields: {},
      controls: [],
    };
    for (const [, kind = '', tag = ''] of inside.matchAll(/<(input|button)\b([^>]*)>/gi)) {
      const name = attribute(tag, 'name');
      if (name === undefined) continue;
      const [value, type] = [attribute(tag, 'value') ?? '', attribute(tag, 'type')];
      const isButton = kind.toLowerCase() === 'button' || type === 'submit';
      form.controls.push(isButton ? `${name}=${value}` : name);
      if (!isButton) form.fields[name] = value;
      if (type === 'hidden') form.hidden[name] = value;
    }
    return form;
  });
}

/** URL at which a page continues by itself; null for other pages. Such a page answers a form in place of a redirect. */
export function continuationOf(html: string): string | null {
  const [, tag = ''] = /<meta (http-equiv="refresh"[^>]*)>/.exec(html) ?? [];
  return /^0; url=(.*)$/s.exec(attribute(tag, 'content') ?? '')?.[1] ?? null;
}

function attribute(tag: string, name: string): string | undefined {
  const match = new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, 'i').exec(tag);
  const text = match?.[1] ?? match?.[2] ?? match?.[3];
  return text === undefined ? undefined : unescape(text);
}

function unescape(text: string): string {
  const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
  return text.replaceAll(/&(?:#(\d+)|#x([\da-f]+)|(amp|lt|gt|quot|apos));/gi, (_all, decimal, hex, name) =>
    name
      ? (named[String(name).toLowerCase()] ?? '')
      : String.fromCodePoint(decimal ? Number(decimal) : Number.parseInt(String(hex), 16)),
  );
}

/** Cookies of one host. */
export class CookieJar extends Map<string, string> {
  /** @param headers Set-Cookie @returns the names of the cookies */
  store(headers: readonly string[]): string[] {
    return headers.map((line) => {
      const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
      const name = pair.slice(0, pair.indexOf('='));
      if (attributes.some(endsNow)) this.delete(name);
      else this.set(name, pair.slice(name.length + 1));
      return name;
    });
  }

  /** Returns undefined without cookies. */
  header(): string | undefined {
    return this.size === 0 ? undefined : [...this].map(([name, value]) => `${name}=${value}`).join('; ');
  }
}

function endsNow(attribute: string): boolean {
  const [name = '', value = ''] = attribute.split('=');
  if (name.toLowerCase() === 'max-age') return Number(value) <= 0;
  return name.toLowerCase() === 'expires' && Date.parse(value) <= Date.now();
}
