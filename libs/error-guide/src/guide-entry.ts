/**
 * Party that can fix an error: the application's developer, the user, the operator (with commands), or the
 * team that runs the service.
 */
export type Party = 'application' | 'user' | 'operator' | 'platform';

export const PARTY_NAMES: Readonly<Record<Party, string>> = {
  application: 'developer of the application',
  user: 'user',
  operator: 'operator',
  platform: 'platform team',
};

/** An entry with advice for one or more parties, starting with the most likely party. Backticks mark code. */
export interface WrittenEntry extends Readonly<Partial<Record<Party, string | readonly string[]>>> {
  /** Explanation in one or two sentences. */
  readonly meaning: string;
  /** Commands to show after the operator's last advice, without `operator`. Braces mark request values: {client_id}. */
  readonly commands?: readonly string[];
  /** Entry to publish instead, if a response must not distinguish two checks (an unknown client and a wrong secret). */
  readonly publishedAs?: string;
}

export interface ErrorCodeEntry extends WrittenEntry {
  /** Example of `error_description`. */
  readonly example: string;
}

interface CheckEntry extends WrittenEntry {
  readonly title: string;
}

/** Entries of at least the given checks. */
export type CheckEntries<Checks extends string = never> = Readonly<Record<Checks, CheckEntry>> &
  Readonly<Record<string, CheckEntry>>;

type Remedy = readonly [party: Party, action: string, ...commands: string[]];

export interface GuideEntry extends Pick<WrittenEntry, 'meaning' | 'publishedAs'> {
  readonly title: string;
  readonly remedies: readonly Remedy[];
}

/** @param name check or error code; also the default title */
export function guideEntryOf(name: string, entry: WrittenEntry & { readonly title?: string }): GuideEntry {
  const { title = name, meaning, commands = [], publishedAs } = entry;
  const remedies = Object.entries(entry).flatMap(([party, advice]: [string, string | readonly string[]]) => {
    if (!Object.hasOwn(PARTY_NAMES, party)) return [];
    const actions = [advice].flat();
    return actions.map((action, index): Remedy => {
      const hasCommands = party === 'operator' && index === actions.length - 1;
      return [party as Party, action, ...(hasCommands ? commands : [])];
    });
  });
  return { title, meaning, remedies, ...(publishedAs !== undefined && { publishedAs }) };
}
