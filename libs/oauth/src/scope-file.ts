import { isUtf8 } from 'node:buffer';
import { parseDocument } from 'yaml';
import { type Locale, LOCALES } from './locale.js';
import { isAdminScope } from './client-credentials.js';
import { OPENID_SCOPES } from './openid/openid-scopes.js';
import { type Scope, SCOPE_TOKEN, ScopeCatalogue } from './scope.js';

/** Path relative to the working directory, in the repository and in the image. */
export const DEFAULT_SCOPES_FILE = 'scopes.yaml';

export class ScopeFileError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ScopeFileError';
  }
}

export interface KnownApis {
  /** Default API origin of a scope. */
  readonly apiUrl: string;
  /** Allowed origins; null if another process validates them. */
  readonly apis: readonly string[] | null;
  /** True to add the scopes of OpenID Connect. */
  readonly openid?: boolean;
}

export interface ScopeSettings {
  readonly SCOPES_FILE: string;
  readonly API_URL: string;
  /** Allowed origins; null or absent if another process validates them. */
  readonly apis?: readonly string[] | null;
  readonly ID_TOKEN_KEYS?: string;
}

/** Describes the file for `readConfigurationFile`. */
export function scopeFile(
  { SCOPES_FILE: path, API_URL: apiUrl, apis = null, ID_TOKEN_KEYS: keys = '' }: ScopeSettings,
  openid = keys !== '',
): { variable: string; path: string; parse: (content: Buffer) => ScopeCatalogue } {
  return {
    variable: 'SCOPES_FILE',
    path,
    parse: (content) => parseScopes(content, { apiUrl, apis, openid }),
  };
}

const FIELDS = ['name', 'access', 'default', 'resource', 'description', 'text'];
/** Also the limit of the column `clients.scopes`. */
const MAX_SCOPES = 100;
const MAX_NAME = 100;
const MAX_TEXT = 300;

/** @throws ScopeFileError that lists every problem */
export function parseScopes(file: Buffer, { apiUrl, apis, openid = false }: KnownApis): ScopeCatalogue {
  if (!isUtf8(file)) throw new ScopeFileError(['it is not UTF-8']);
  const document = parseDocument(file.toString(), { prettyErrors: true });
  if (document.errors.length > 0)
    throw new ScopeFileError(document.errors.map(({ message }) => message.split('\n', 1)[0] ?? ''));
  const content: unknown = document.toJS();
  const entries = isMap(content) && Object.keys(content).length === 1 ? content['scopes'] : undefined;
  if (!Array.isArray(entries) || entries.length === 0 || entries.length > MAX_SCOPES)
    throw new ScopeFileError([`it must contain only "scopes", a list of 1 to ${MAX_SCOPES} scopes`]);
  const read = entries.map((entry: unknown, index) => readScope(entry, index, apiUrl, apis));
  const declared = read.flatMap(({ scope }) => scope ?? []);
  const builtIn = openid
    ? OPENID_SCOPES.filter(({ name }) => !declared.some((scope) => scope.name === name))
    : [];
  const catalogue = new ScopeCatalogue([
    ...builtIn.map((scope) => ({ ...scope, resource: apiUrl })),
    ...declared,
  ]);
  const problems = read.flatMap((entry) => entry.problems);
  const twice = catalogue.names.filter((name, index) => catalogue.names.indexOf(name) < index);
  problems.push(...new Set(twice.map((name) => `${name}: it is declared more than once`)));
  // RFC 6749 3.3: without `scope` the server uses "a pre-defined default value".
  if (problems.length === 0 && catalogue.defaults.length === 0)
    problems.push('no scope is the default: give at least one "default: true"');
  if (problems.length > 0) throw new ScopeFileError(problems);
  return catalogue;
}

/** Lists missing translations by scope. The consent page falls back to English. */
export function untranslated({ scopes }: ScopeCatalogue): string[] {
  return scopes.flatMap(({ name, texts }) => {
    const missing = LOCALES.filter((locale) => texts[locale] === undefined);
    return missing.length === 0 ? [] : [`${name} (${missing.join(', ')})`];
  });
}

function readScope(
  entry: unknown,
  index: number,
  apiUrl: string,
  apis: readonly string[] | null,
): { scope?: Scope; problems: string[] } {
  if (!isMap(entry)) return { problems: [`scope ${index + 1}: it must be a map with a name and a text`] };
  // The default access is write, so that a scope with undeclared access does not look harmless.
  const {
    name,
    access = 'write',
    default: isDefault = false,
    resource = null,
    description = null,
    text,
  } = entry;
  if (!isScopeName(name))
    return {
      problems: [
        `scope ${index + 1}: its name must be 1 to ${MAX_NAME} printable ASCII characters without space, comma, " and \\ (RFC 6749 3.3)`,
      ],
    };
  if (isAdminScope(name))
    return { problems: [`${name}: it is a built-in scope of the operators' HTTP API: choose another name`] };
  const problems = Object.keys(entry)
    .filter((field) => !FIELDS.includes(field))
    .map((field) => `it has an unknown field "${field}": the fields are ${FIELDS.join(', ')}`);
  if (access !== 'read' && access !== 'write') problems.push('"access" must be read or write');
  if (typeof isDefault !== 'boolean') problems.push('"default" must be true or false');
  if (resource !== null) problems.push(...resourceProblems(resource, apis));
  if (description !== null && !isText(description)) problems.push(`"description" must be ${TEXT_RULE}`);
  problems.push(...textProblems(text));
  if (problems.length > 0) return { problems: problems.map((problem) => `${name}: ${problem}`) };
  const texts = text as Scope['texts'];
  return {
    scope: {
      name,
      texts,
      description: (description as string | null) ?? texts.en,
      resource: (resource as string | null) ?? apiUrl,
      isDefault: isDefault === true,
      access: access as Scope['access'],
    },
    problems: [],
  };
}

/** A scope-token (RFC 6749 3.3) without commas, because requests may separate scopes by commas. */
function isScopeName(name: unknown): name is string {
  return typeof name === 'string' && name.length <= MAX_NAME && SCOPE_TOKEN.test(name) && !name.includes(',');
}

function resourceProblems(resource: unknown, apis: readonly string[] | null): string[] {
  if (typeof resource !== 'string' || !URL.canParse(resource) || new URL(resource).origin !== resource)
    return ['"resource" must be an origin without a path or trailing slash'];
  if (apis === null || apis.includes(resource)) return [];
  return [`its resource ${resource} is neither API_URL nor one of OTHER_API_URLS`];
}

const TEXT_RULE = `one line of 1 to ${MAX_TEXT} characters`;

function isText(text: unknown): text is string {
  return typeof text === 'string' && text.length <= MAX_TEXT && /\S/.test(text) && !/\p{Cc}/u.test(text);
}

function textProblems(text: unknown): string[] {
  if (!isMap(text)) return ['"text" must be a map from languages to texts'];
  const known: readonly string[] = LOCALES;
  const problems = Object.entries(text).flatMap(([language, value]) => {
    if (!known.includes(language))
      return [`it has a text in the unknown language "${language}": the languages are ${known.join(', ')}`];
    return isText(value) ? [] : [`its text in ${language} must be ${TEXT_RULE}`];
  });
  const english: Locale = 'en';
  if (!(english in text)) problems.push('it has no English text: give "en"');
  return problems;
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
