import type { Problem } from '#administration/administration.error.js';
import { withNames } from '#administration/administration.error.js';
import { commandToPaste } from './shell.js';

/** Options that are not named like the field of the operation. */
const FLAGS: Readonly<Record<string, string>> = {
  addRedirectUris: '--add-redirect-uri',
  addScopes: '--add-scope',
  confirmNewSubjects: '--yes',
  optionalScopes: '--optional-scope',
  password: 'the password on stdin',
  postLogoutRedirectUris: '--post-logout-redirect-uri',
  redirectUris: '--redirect-uri',
  removeRedirectUris: '--remove-redirect-uri',
  removeScopes: '--remove-scope',
  requireState: '--state',
  scopes: '--scope',
};

function flagOf(field: string): string {
  return FLAGS[field] ?? `--${field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** Renders a problem for the terminal, with the options of the command and a command to paste. */
export function textOf({ message, next }: Problem): string {
  const text = withNames(message, flagOf);
  if (!next) return text;
  const introduction = next.text === '' ? text : `${text}. ${withNames(next.text, flagOf)}`;
  return `${introduction}:${commandToPaste(...next.command)}`;
}
