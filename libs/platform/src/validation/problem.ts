/**
 * Ids of problems, by the values that their texts need; null without values. Each room declares its own in the file of
 * its rules.
 */
export interface Problems {
  unknown_field: null;
  type: { readonly expected: 'text' | 'texts' | 'flag' | 'number' | 'file' | 'json' | 'object' };
  number_invalid: { readonly min: number; readonly max: number };
  word_unknown: { readonly words: readonly string[]; readonly given: string };
}

export type ProblemId = keyof Problems;

/** Names of fields and indexes of lists, from the input to the invalid value; empty for the input as a whole. */
export type Path = readonly (string | number)[];

/**
 * A broken rule about input, or another reason to reject an operation. `describeProblem` of the error guide has the
 * text. Values are public.
 */
export interface Problem<Id extends ProblemId = ProblemId> {
  readonly id: Id;
  readonly path: Path;
  readonly values: Problems[Id];
  /** Line of a file. */
  readonly line?: number;
}

type ValuesOf<Id extends ProblemId> = Problems[Id] extends null ? [] : [values: Problems[Id]];

/**
 * Option of class-validator's decorators: reports this problem if the decorator refuses the value, or if it is absent.
 */
export function reports<Id extends ProblemId>(
  id: Id,
  ...[values]: ValuesOf<Id>
): { context: Pick<Problem, 'id' | 'values'> } {
  return { context: { id, values: values ?? null } };
}

/** @param path name of a field of the input, or a whole path */
export function problem<Id extends ProblemId>(
  id: Id,
  path: string | Path,
  ...[values]: ValuesOf<Id>
): Problem<Id> {
  return {
    id,
    path: typeof path === 'string' ? [path] : path,
    values: (values ?? null) as Problems[Id],
  };
}

export function at(prefix: Path, problems: readonly Problem[]): Problem[] {
  return prefix.length === 0
    ? [...problems]
    : problems.map((found) => ({ ...found, path: [...prefix, ...found.path] }));
}

/** Suggested command, introduced by `text`, which may be empty. */
export interface Next {
  readonly text: string;
  readonly command: readonly string[];
}
