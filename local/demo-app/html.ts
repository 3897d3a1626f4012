const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escaped markup. Only the tag below creates it. */
export class Html {
  constructor(readonly text: string) {}

  toString(): string {
    return this.text;
  }
}

/** Markup from a template. Values are escaped, except other Markup. Undefined values are empty. */
export function html(parts: TemplateStringsArray, ...values: readonly (string | Html | undefined)[]): Html {
  const shown = values.map((value) => (value instanceof Html ? value.text : escape(value ?? '')));
  return new Html(parts.map((part, index) => part + (shown[index] ?? '')).join(''));
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
