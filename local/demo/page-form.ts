import { StepFailure } from './step-failure.js';

/** A form of a page. */
export interface PageForm {
  action: URL;
  /** Values that the page filled in, such as hidden fields. */
  fields: Record<string, string>;
  /** Names of inputs, and `name=value` of buttons. */
  controls: string[];
}

/**
 * Finds the form with a given input or button.
 *
 * @param wanted the name of an input, or `name=value` of a button
 * @throws StepFailure if the page has no such form
 */
export function findForm(html: string, page: URL, wanted: string): PageForm {
  const forms = [...html.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gis)].map(
    ([, attributes = '', inside = '']) => read(attributes, inside, page),
  );
  const found = forms.find(({ controls }) => controls.includes(wanted));
  if (found) return found;
  const heading = /<h1[^>]*>(.*?)<\/h1>/is.exec(html)?.[1]?.trim() ?? 'no heading';
  throw new StepFailure(`a form with ${wanted}`, `a page "${heading}" without one`);
}

function read(attributes: string, inside: string, page: URL): PageForm {
  const form: PageForm = {
    action: new URL(attribute(attributes, 'action') ?? '', page),
    fields: {},
    controls: [],
  };
  // A form without an action is submitted to the URL of its page, with its query (HTML 4.10.21.3).
  if (!attribute(attributes, 'action')) form.action = page;
  for (const [, kind = '', tag = ''] of inside.matchAll(/<(input|button)\b([^>]*)>/gi)) {
    const name = attribute(tag, 'name');
    if (name === undefined) continue;
    const value = attribute(tag, 'value') ?? '';
    const isButton = kind.toLowerCase() === 'button' || attribute(tag, 'type') === 'submit';
    form.controls.push(isButton ? `${name}=${value}` : name);
    if (!isButton) form.fields[name] = value;
  }
  return form;
}

function attribute(tag: string, name: string): string | undefined {
  const found = new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, 'i').exec(tag);
  const text = found?.[1] ?? found?.[2] ?? found?.[3];
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
