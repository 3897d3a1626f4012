import { wellFormed } from '#operations/wording.js';
import { html, type Html } from '#ui/html.js';
import type { Operator } from '../operator.js';
import { mayActAs, type Role } from '../role.js';
import { command } from './console-components.js';
import { phrase } from '#pages/format.js';

interface CommandPage {
  readonly role: Role;
  readonly text: string;
  readonly path: string;
}

type PageOf = (...values: readonly string[]) => CommandPage;

/** Encodes the values, which may come from an event. */
function url(parts: TemplateStringsArray, ...values: readonly (string | undefined)[]): string {
  return String.raw({ raw: parts }, ...values.map((value = '') => encodeURIComponent(wellFormed(value))));
}

const application =
  (role: Role, text: string, page = ''): PageOf =>
  (id) => ({ role, text, path: url`/applications/${id}` + page });

const OPEN = application('viewer', 'Open the application');

/** Pages by the first words of the command; the values are the words after them. */
const PAGES: Readonly<Record<string, PageOf>> = {
  'client show': OPEN,
  'client secret list': OPEN,
  'client enable': application('support', 'Enable it on its page'),
  'client disable': application('support', 'Disable the application', '/disable'),
  'client update': application('admin', 'Edit the application', '/edit'),
  'client delete': application('admin', 'Delete the application', '/delete'),
  'client secret rotate': application('admin', 'Create a new secret', '/secrets/new'),
  'client secret revoke': (id, secret = '') => ({
    role: 'admin',
    text: phrase('Revoke the secret {secret}', { secret }),
    path: url`/applications/${id}/secrets/${secret}/revoke`,
  }),
  'user enable': (user) => ({
    role: 'support',
    text: 'Enable the user on the user’s page',
    path: url`/users/${user?.replace(/^id:/, '')}`,
  }),
  'grant show': (id) => ({
    role: 'viewer',
    text: 'Show the events of the grant',
    path: url`/audit?grant=${id}`,
  }),
  'audit search': (...options) => ({
    role: 'viewer',
    text: 'Show these events',
    path: `/audit?${queryOf(options).toString()}`,
  }),
  explain: (...options) => ({
    role: 'viewer',
    text: 'What happened',
    path: url`/events?client=${queryOf(options).get('client') ?? ''}`,
  }),
  'keys next': () => ({ role: 'admin', text: 'Rotate keys', path: '/health/keys' }),
};

/** @param options names, like `--client`, each followed by its value */
function queryOf(options: readonly string[]): URLSearchParams {
  const query = new URLSearchParams();
  for (let at = 0; at + 1 < options.length; at += 2)
    query.set(options[at]?.slice('--'.length) ?? '', wellFormed(options[at + 1] ?? ''));
  return query;
}

/** Returns a link to the page that does the same as the command; false if there is none that the operator may open. */
export function pageLink({ role }: Operator, words: readonly string[]): Html | false {
  for (const [start, pageOf] of Object.entries(PAGES)) {
    if (!`${words.join(' ')} `.startsWith(`${start} `)) continue;
    const page = pageOf(...words.slice(start.split(' ').length));
    return mayActAs(role, page.role) && html`<a href="${page.path}">${page.text}</a>`;
  }
  return false;
}

/** Shows a command, and a link to the page that does the same. */
export function commandWithPage(operator: Operator, words: readonly string[]): Html {
  return html`${command(words)} ${pageLink(operator, words)}`;
}
