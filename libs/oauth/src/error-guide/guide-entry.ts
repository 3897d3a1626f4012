/**
 * Who can fix an error: the developer of the application, the user, the operator of this service (by its commands), or the team
 * that runs it.
 */
export type Party = 'application' | 'user' | 'operator' | 'platform';

/** What one party can do. Text in backticks is code. */
type Remedy = readonly [party: Party, action: string];

/** What is known of an error. Text in backticks is code. */
export interface GuideEntry {
  readonly title: string;
  /** What happened, in one or two sentences. */
  readonly meaning: string;
  /** The likeliest first. */
  readonly remedies: readonly Remedy[];
  /**
   * The entry that the public page and `error_uri` show instead, where an answer must not tell two checks apart (an unknown
   * client and a wrong secret).
   */
  readonly publishedAs?: string;
}

export type GuideEntries = Readonly<Record<string, GuideEntry>>;
