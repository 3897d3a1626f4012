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

/** Characters that turn the direction of all that follows them (UAX 9 2), or an isolate that is whole, as `isolated` makes it. */
const BIDI_CONTROLS = /\u2068[^\u202a-\u202e\u2066-\u2069]*\u2069|[\u202a-\u202e\u2066-\u2069]/g;

/**
 * The text with no character that could turn what stands behind it: one that is not ended reaches beyond its element,
 * and the end of an isolate that it did not begin ends the one around it.
 */
function neutralizeBidi(text: string): string {
  return text.replaceAll(BIDI_CONTROLS, (found) => (found.length > 1 ? found : '\ufffd'));
}

/** A text among others where there is no markup, as `<bdi>` is where there is: first strong isolate (UAX 9 2.4). */
export function isolated(text: string): string {
  return `\u2068${neutralizeBidi(text).replaceAll(/[\u2068\u2069]/g, '')}\u2069`;
}

/**
 * Renders a page's markup. Every value is escaped for element content and for quoted attributes, and turns nothing but
 * itself, unless it is markup that this function made; there is no way to ask for raw text. Attribute values are always
 * quoted.
 */
export function html(strings: TemplateStringsArray, ...values: readonly Fragment[]): Html {
  return new Html(strings.map((text, index) => text + render(values[index])).join(''));
}

function render(value: Fragment): string {
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'string' || typeof value === 'number')
    return neutralizeBidi(String(value)).replaceAll(/[&<>"'`]/g, (character) => ENTITIES[character] ?? '');
  return value.map(render).join('');
}
