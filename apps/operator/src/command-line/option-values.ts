/** The input is wrong, and nothing was written. Exit code 2. */
export class InputError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'InputError';
  }
}

/** Some lines of the input were rejected, and have been reported. Exit code 3. */
export class IncompleteError extends Error {}

/** Problems were found, and have been reported. Exit code 4. */
export class FindingsError extends Error {}

export function choice<Value>(
  flag: string,
  values: Readonly<Record<string, Value>>,
): (text: string) => Value {
  return (text) => {
    const value = Object.entries(values).find(([name]) => name === text);
    if (value) return value[1];
    throw new InputError([`${flag} must be ${Object.keys(values).join(' or ')}`]);
  };
}

/** Replaces each value `none` with null, which removes the registered value. Commander's parsers cannot return null. */
export function withNone<Name extends string>(
  values: Readonly<Record<Name, string | undefined>>,
): Record<Name, string | null | undefined> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value === 'none' ? null : value]),
  ) as Record<Name, string | null | undefined>;
}
