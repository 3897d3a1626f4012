/** Markup that `html` does not escape. */
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

/** Bidi control characters (section 2 of UAX 9), or a complete isolate made by `isolated`. */
const BIDI_CONTROLS = /\u2068[^\u202a-\u202e\u2066-\u2069]*\u2069|[\u202a-\u202e\u2066-\u2069]/g;

/**
 * Replaces controls outside complete isolates: an unterminated control would reach beyond its element, and a stray
 * terminator would close the enclosing isolate.
 */
function neutralizeBidi(text: string): string {
  return text.replaceAll(BIDI_CONTROLS, (match) => (match.length > 1 ? match : '\ufffd'));
}

/** Wraps plain text in a first strong isolate (section 2.4 of UAX 9), as `<bdi>` does in markup. */
export function isolated(text: string): string {
  return `\u2068${neutralizeBidi(text).replaceAll(/[\u2068\u2069]/g, '')}\u2069`;
}

/**
 * Escapes values for elements and quoted attributes, and replaces bidi controls. Does not change `Html` values. The
 * caller must quote attributes.
 */
export function html(strings: TemplateStringsArray, ...values: readonly Fragment[]): Html {
  return new Html(strings.map((text, index) => text + render(values[index])).join(''));
}

/** Escapes a value that the browser submits but does not show. Keeps bidi controls. */
export function unchanged(text: string): Html {
  return new Html(escaped(text));
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"'`]/g, (character) => ENTITIES[character] ?? '');
}

function render(value: Fragment): string {
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'string' || typeof value === 'number') return escaped(neutralizeBidi(String(value)));
  return value.map(render).join('');
}
