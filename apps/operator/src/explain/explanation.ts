import type { AuditEvent } from '#audit/event.js';
import { guideEntry } from '#oauth/error-guide/error-guide.js';
import type { Party } from '#oauth/error-guide/guide-entry.js';
import { invocation } from '../command-line/operator-command.js';
import { shellWord } from '../command-line/shell.js';
import { type Comparison, comparisonOf } from './comparison.js';
import type { GrantOwner } from './grant-owners.js';

/** What one party can do, with the ids of this request in its commands. */
export interface Remedy {
  readonly party: Party;
  readonly action: string;
}

/** Why a request was refused, or what else became of it. */
export interface Explanation {
  readonly reference: string;
  /** The event that says most; every other process that handled the request has one of its own. */
  readonly event: AuditEvent;
  readonly others: readonly AuditEvent[];
  readonly clientId: string | null;
  readonly userId: number | null;
  readonly grantId: string | null;
  readonly title: string | null;
  readonly meaning: string | null;
  readonly comparison: Comparison;
  readonly remedies: readonly Remedy[];
}

/** An API knows only that a token is not valid. The token app knows why. */
const VAGUE: ReadonlySet<unknown> = new Set(['access token is active']);

/**
 * @param events of one request, at least one
 * @param owner of its grant, where no event names the client
 */
export function explanationOf(
  reference: string,
  events: readonly [AuditEvent, ...AuditEvent[]],
  owner: GrantOwner | null = null,
): Explanation {
  const [event = events[0], ...others] = [...events].sort((one, other) => vagueness(one) - vagueness(other));
  const find = <Value>(field: (event: AuditEvent) => Value | undefined): Value | null =>
    events.map(field).find((value) => value !== undefined) ?? null;
  const entry = isRefusal(event) ? guideEntry(event.check, event.error) : null;
  const clientId = find(({ client_id: id }) => id) ?? owner?.clientId ?? null;
  const ids = { clientId, grantId: find(({ grant_id: id }) => id) };
  const redirectUri = event.detail?.['redirect_uri'];
  return {
    reference,
    event,
    others,
    ...ids,
    userId: find(({ user_id: id }) => id) ?? owner?.userId ?? null,
    title: entry?.title ?? null,
    meaning: entry?.meaning ?? null,
    comparison: comparisonOf(event),
    remedies: (entry?.remedies ?? []).map(([party, action]) => ({
      party,
      action: withIds(action, { ...ids, redirectUri: typeof redirectUri === 'string' ? redirectUri : null }),
    })),
  };
}

/** Whether a request was refused: only then it failed a check. */
export function isRefusal({ error, check }: AuditEvent): boolean {
  return error !== undefined || check !== undefined;
}

function vagueness(event: AuditEvent): number {
  if (!isRefusal(event)) return 2;
  return VAGUE.has(event.check) ? 1 : 0;
}

type Ids = Readonly<Record<'clientId' | 'grantId' | 'redirectUri', string | null>>;

/** The parts of the guide's commands that a request can fill in. */
const PLACEHOLDER =
  /(?<redirectUri>(?<=--add-redirect-uri )URI)|(?<grantId>(?<=grant show |--grant )ID)|(?<clientId>(?<=client [\w -]*|--client )ID)/g;

/** Puts the ids of the request, and how this command line was started, into the commands of a remedy, so that they can be copied. */
function withIds(action: string, ids: Ids): string {
  return action.replaceAll(/`[^`]+`/g, (command) =>
    // In one pass, so that nothing in a value is taken for a placeholder.
    command
      .replace(/^`operator /, `\`${invocation()} `)
      .replaceAll(PLACEHOLDER, (placeholder: string, ...rest: unknown[]) => {
        const names = rest.at(-1) as Readonly<Record<keyof Ids, string | undefined>>;
        const name = (['redirectUri', 'grantId', 'clientId'] as const).find(
          (one) => names[one] !== undefined,
        );
        const value = name && ids[name];
        return value ? shellWord(value) : placeholder;
      }),
  );
}
