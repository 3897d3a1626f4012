/** Markup that is safe to send. Only `html` makes it. */
export class Html {
  constructor(readonly text: string) {}
}

export type Fragment = Html | string | number | false | null | undefined | readonly Fragment[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
};

/**
 * Renders a page's markup. Every value is escaped for element content and for quoted attributes, unless it is
 * markup that this function made; there is no way to ask for raw text. Attribute values are always quoted.
 */
export function html(strings: TemplateStringsArray, ...values: readonly Fragment[]): Html {
  return new Html(strings.map((text, index) => text + render(values[index])).join(''));
}

function render(value: Fragment): string {
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'string' || typeof value === 'number')
    return String(value).replaceAll(/[&<>"'`]/g, (character) => ENTITIES[character] ?? '');
  return value.map(render).join('');
}
