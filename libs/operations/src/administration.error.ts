export interface Problem {
  readonly id: string;
  /** Name of the invalid input field; absent if the problem is not in a single field. */
  readonly field?: string;
  /** Number of the invalid line of a file; `message` also contains this number. */
  readonly line?: number;
  /**
   * Explains what to do. Field names are in ‹›, because commands, pages and the API use different names, see
   * `withNames`.
   */
  readonly message: string;
  /** Suggested command, introduced by `text`, which may be empty. */
  readonly next?: Next;
}

export interface Next {
  readonly text: string;
  readonly command: readonly string[];
}

/**
 * - `invalid`: the input breaks a rule
 * - `unknown`: the input names something that does not exist
 * - `conflict`: the stored state does not permit the change, or several records match the given name
 * - `outdated`: another change has replaced the expected version
 * - `unconfirmed`: the operation requires the confirmation that the problem names
 * - `unsafe`: the change would log users out, its effect is unknown, or the operator or channel may not make it
 * - `incomplete`: only a part succeeded, for example because the running services do not answer: repeat the operation
 * - `unavailable`: a service does not answer or is busy, and nothing was changed
 */
export type RefusalKind =
  'invalid' | 'unknown' | 'conflict' | 'outdated' | 'unconfirmed' | 'unsafe' | 'incomplete' | 'unavailable';

/** Rejects an operation with a list of all problems. Nothing was changed, unless the kind is `incomplete`. */
export class AdministrationError extends Error {
  constructor(
    readonly kind: RefusalKind,
    readonly problems: readonly Problem[],
    options?: ErrorOptions,
  ) {
    super(problems.map(({ message }) => message).join('\n'), options);
    this.name = 'AdministrationError';
  }

  /** Warnings about the completed part. */
  warnings: readonly string[] = [];

  messages(nameOf: (field: string) => string): string[] {
    return this.problems.map(({ message }) => withNames(message, nameOf));
  }
}

export function refusal(kind: RefusalKind, id: string, message: string, next?: Next): AdministrationError {
  return new AdministrationError(kind, [{ id, message, ...(next && { next }) }]);
}

export function refuseInvalid(problems: readonly Problem[]): void {
  if (problems.length > 0) throw new AdministrationError('invalid', problems);
}

/** Inserts the field names of one interface into a message. Input never contains unescaped ‹›: see `quoted`. */
export function withNames(message: string, nameOf: (field: string) => string): string {
  return message.replaceAll(/‹(\w+)›/g, (_, field: string) => nameOf(field));
}
