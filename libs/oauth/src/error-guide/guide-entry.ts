/**
 * Who can fix an error: the developer of the application, the user, the operator of this service (by its commands), or the team
 * that runs it.
 */
export type Party = 'application' | 'user' | 'operator' | 'platform';

/**
 * Advice for one party, and the operator's commands for it, without the name of the program. Text in backticks is code. A word in
 * braces stands for a value of the request: {client_id}, {grant_id}, {redirect_uri}, {scope} or {user}.
 */
type Remedy = readonly [party: Party, action: string, ...commands: string[]];

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
