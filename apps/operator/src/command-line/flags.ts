import { fileMemberOf } from '#clients/operations/file/client-file.js';
import type { Next, Problem } from '#platform/validation/problem.js';
import { describeProblem, nextOf } from '#error-guide/problems/describe-problem.js';
import { commandToPaste } from './shell.js';

/** Options whose names differ from the fields of the operations. */
const FLAGS: Readonly<Record<string, string>> = {
  addKeys: '--add-key',
  addRedirectUris: '--add-redirect-uri',
  addScopes: '--add-scope',
  confirmConsole: '--yes',
  confirmLastAdmin: '--yes',
  confirmNewSubjects: '--yes',
  deviceGrant: '--grant',
  idTokenKeys: '--stdin',
  optionalScopes: '--optional-scope',
  password: 'the password on stdin',
  postLogoutRedirectUris: '--post-logout-redirect-uri',
  privateSchemes: '--private-scheme',
  redirectUris: '--redirect-uri',
  removeKeys: '--remove-key',
  removeRedirectUris: '--remove-redirect-uri',
  removeScopes: '--remove-scope',
  requireState: '--state',
  scopes: '--scope',
  tokenKeys: '--stdin',
  type: '--public',
  types: '--type',
};

/** Returns the field that an option sets. @param option camel-case name, as commander gives it */
export function fieldOfOption(option: string): string {
  const flag = `--${option.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  return Object.entries(FLAGS).find(([, known]) => known === flag)?.[0] ?? option;
}

export function flagOf(field: string): string {
  return FLAGS[field] ?? `--${field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

export function textOf(problem: Problem): string {
  // A client file has its own names.
  const nameOf = problem.line === undefined ? flagOf : fileMemberOf;
  const [text, next] = [describeProblem(problem, nameOf), nextOf(problem)];
  if (!next) return text;
  return nextText({ ...next, text: next.text === '' ? text : `${text}. ${next.text}` });
}

export function nextText({ text, command }: Next): string {
  return `${text}:${commandToPaste(...command)}`;
}

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
