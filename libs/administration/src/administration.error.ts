export interface Problem {
  readonly id: string;
  /** Name of the field of the input that is wrong; absent if no single field is. */
  readonly field?: string;
  /** Line of the file that is wrong; `message` begins with it. */
  readonly line?: number;
  /**
   * Says what to do. Names of fields are in ‹›, because terminal, page and API call them differently: see `withNames`.
   */
  readonly message: string;
  /** An operation of the command line that helps, introduced by `text`, which may be empty. */
  readonly next?: Next;
}

export interface Next {
  readonly text: string;
  readonly command: readonly string[];
}

/**
 * - `invalid`: the input breaks a rule
 * - `unknown`: what the input names does not exist
 * - `conflict`: the stored state does not permit the change
 * - `outdated`: another change came first: the expected version is not the stored one
 * - `unconfirmed`: repeat the operation with the confirmation that the problem names
 * - `unsafe`: the change would log users out, or its effect is unknown
 * - `incomplete`: the change is stored, and running services have not applied it yet: repeat the operation
 * - `unavailable`: a service does not answer, and nothing was changed
 */
export type RefusalKind =
  'invalid' | 'unknown' | 'conflict' | 'outdated' | 'unconfirmed' | 'unsafe' | 'incomplete' | 'unavailable';

/** Refuses an operation, with every problem. Unless the kind is `incomplete`, nothing was changed. */
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

/** Returns a message with the field names of its reader. Input never contains ‹› unescaped: see `quoted`. */
export function withNames(message: string, nameOf: (field: string) => string): string {
  return message.replaceAll(/‹(\w+)›/g, (_, field: string) => nameOf(field));
}
