import { isUtf8 } from 'node:buffer';
import {
  ArrayMaxSize,
  ArrayNotEmpty,
  IsArray,
  IsBoolean,
  IsDefined,
  IsIn,
  IsObject,
  IsOptional,
  IsString,
} from 'class-validator';
import { parseDocument } from 'yaml';
import { INPUT_PROBLEMS } from '#error-guide/problems/input-problems.js';
import { describeBy } from '#error-guide/problems/problem-entry.js';
import { SCOPE_PROBLEMS } from '#error-guide/problems/scope-problems.js';
import { isAdminScope } from '#oauth/client-credentials.js';
import { LOCALES } from '#oauth/locale.js';
import { OPENID_SCOPES } from '#oauth/openid/openid-scopes.js';
import { type Scope, SCOPE_TOKEN, ScopeCatalogue } from '#oauth/scope.js';
import {
  type ConfigurationFile,
  readConfigurationFile,
} from '#platform/configuration/configuration-files.module.js';
import { ServiceConfiguration } from '#platform/configuration/service.configuration.js';
import { at, type Problem, problem, reports } from '#platform/validation/problem.js';
import { fieldsOf, MayBeAbsent, Satisfies, validate } from '#platform/validation/validate.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    scopes_not_utf8: null;
    scopes_syntax: { readonly message: string };
    scopes_malformed: { readonly max: number };
    scopes_without_default: null;
    scope_malformed: null;
    scope_field_unknown: { readonly fields: readonly string[] };
    scope_name_invalid: { readonly max: number };
    scope_name_reserved: null;
    scope_repeated: null;
    scope_resource_malformed: null;
    scope_resource_unknown: { readonly resource: string };
    scope_description_invalid: { readonly max: number };
    scope_texts_missing: null;
    scope_text_invalid: { readonly max: number };
    scope_english_missing: null;
    scope_language_unknown: { readonly fields: readonly string[] };
  }
}

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

/** @throws ConfigurationError that lists every problem */
export function readScopeFile(
  { SCOPES_FILE: path, API_URL: apiUrl, apis = null, ID_TOKEN_KEYS: keys = '' }: ScopeSettings,
  openid = keys !== '',
): ConfigurationFile<ScopeCatalogue> {
  const parse = (content: Buffer) => parseScopes(content, { apiUrl, apis, openid });
  return readConfigurationFile({ variable: 'SCOPES_FILE', path, parse });
}

/** Configuration of a service that reads the scopes. */
export abstract class ScopesConfiguration extends ServiceConfiguration {
  abstract readonly API_URL: string;
  SCOPES_FILE = DEFAULT_SCOPES_FILE;

  #scopes?: ConfigurationFile<ScopeCatalogue>;

  /** SCOPES_FILE, which is read once. @throws ConfigurationError that lists every problem */
  get scopes(): ConfigurationFile<ScopeCatalogue> {
    return (this.#scopes ??= readScopeFile(this));
  }
}

/** Also the limit of the column `clients.scopes`. */
const MAX_SCOPES = 100;
const MAX_NAME = 100;
const MAX_TEXT = 300;

class ScopeFile {
  @ArrayMaxSize(MAX_SCOPES)
  @ArrayNotEmpty()
  @IsArray(reports('scopes_malformed', { max: MAX_SCOPES }))
  scopes: unknown[];
}

class DeclaredScope {
  @Satisfies(isNotReserved, reports('scope_name_reserved'))
  @Satisfies(isScopeName, reports('scope_name_invalid', { max: MAX_NAME }))
  name: string;

  // The default is write, so that a scope with undeclared access does not look harmless.
  @IsIn(['read', 'write'])
  @IsString()
  access: Scope['access'] = 'write';

  @IsBoolean()
  default = false;

  @Satisfies(isOrigin, reports('scope_resource_malformed'))
  @IsOptional()
  resource?: string | null;

  @Satisfies(isText, reports('scope_description_invalid', { max: MAX_TEXT }))
  @IsOptional()
  description?: string | null;

  @IsObject(reports('scope_texts_missing'))
  text: Scope['texts'];
}

/** Has a property for each language. */
class ScopeTexts {}

for (const locale of LOCALES) {
  const isPresent = locale === 'en' ? IsDefined(reports('scope_english_missing')) : MayBeAbsent();
  isPresent(ScopeTexts.prototype, locale);
  Satisfies(isText, reports('scope_text_invalid', { max: MAX_TEXT }))(ScopeTexts.prototype, locale);
}

/** @throws ScopeFileError that lists every problem */
export function parseScopes(file: Buffer, { apiUrl, apis, openid = false }: KnownApis): ScopeCatalogue {
  const entries = entriesOf(file);
  const read = entries.map((entry, index) => readScope(entry, ['scopes', index], apiUrl, apis));
  const declared = read.flatMap(({ scope }) => scope ?? []);
  const names = declared.map(({ name }) => name);
  const problems = [
    ...read.flatMap((scope) => scope.problems),
    ...[...new Set(names.filter((name, index) => names.indexOf(name) < index))].map((name) =>
      problem('scope_repeated', ['scopes', entries.findIndex((entry) => nameOf(entry) === name)]),
    ),
  ];
  const builtIn = openid ? OPENID_SCOPES.filter(({ name }) => !names.includes(name)) : [];
  const catalogue = new ScopeCatalogue([
    ...builtIn.map((scope) => ({ ...scope, resource: apiUrl })),
    ...declared,
  ]);
  // RFC 6749 3.3: without `scope` the server uses "a pre-defined default value".
  if (problems.length === 0 && catalogue.defaults.length === 0)
    problems.push(problem('scopes_without_default', []));
  if (problems.length > 0) throw failure(problems, entries);
  return catalogue;
}

/** Lists missing translations by scope. The consent page falls back to English. */
export function untranslated({ scopes }: ScopeCatalogue): string[] {
  return scopes.flatMap(({ name, texts }) => {
    const missing = LOCALES.filter((locale) => texts[locale] === undefined);
    return missing.length === 0 ? [] : [`${name} (${missing.join(', ')})`];
  });
}

function entriesOf(file: Buffer): readonly unknown[] {
  if (!isUtf8(file)) throw failure([problem('scopes_not_utf8', [])]);
  const document = parseDocument(file.toString(), { prettyErrors: true });
  const syntax = document.errors.map(({ message }) =>
    problem('scopes_syntax', [], { message: message.split('\n', 1)[0] ?? '' }),
  );
  if (syntax.length > 0) throw failure(syntax);
  const content: unknown = document.toJS();
  const { dto, problems } = validate(ScopeFile, isMap(content) ? content : {});
  if (!dto || problems.length > 0) throw failure([problem('scopes_malformed', [], { max: MAX_SCOPES })]);
  return dto.scopes;
}

function readScope(
  entry: unknown,
  path: Problem['path'],
  apiUrl: string,
  apis: readonly string[] | null,
): { readonly scope?: Scope; readonly problems: readonly Problem[] } {
  if (!isMap(entry)) return { problems: [problem('scope_malformed', path)] };
  const { dto, problems } = validate(DeclaredScope, entry);
  const found = unknownAs('scope_field_unknown', DeclaredScope, problems);
  const { text, resource } = entry;
  if (isMap(text)) {
    const texts = validate(ScopeTexts, text, ['text']);
    found.push(...unknownAs('scope_language_unknown', ScopeTexts, texts.problems));
  }
  if (isOrigin(resource) && apis && !apis.includes(resource))
    found.push(problem('scope_resource_unknown', 'resource', { resource }));
  if (!dto || found.length > 0) return { problems: at(path, found) };
  const scope = {
    name: dto.name,
    texts: dto.text,
    description: dto.description ?? dto.text.en,
    resource: dto.resource ?? apiUrl,
    isDefault: dto.default,
    access: dto.access,
  };
  return { scope, problems: [] };
}

function unknownAs(
  id: 'scope_field_unknown' | 'scope_language_unknown',
  shape: new () => object,
  problems: readonly Problem[],
): Problem[] {
  return problems.map((found) =>
    found.id === 'unknown_field' ? problem(id, found.path, { fields: fieldsOf(shape) }) : found,
  );
}

const TEXTS = { ...INPUT_PROBLEMS, ...SCOPE_PROBLEMS };

/** Adds to each problem the name of its scope, or its number if it has no valid name. */
function failure(problems: readonly Problem[], entries: readonly unknown[] = []): ScopeFileError {
  return new ScopeFileError(
    problems.map((found) => {
      const [, index] = found.path;
      const place = typeof index === 'number' ? `${nameOf(entries[index]) ?? `scope ${index + 1}`}: ` : '';
      return place + describeBy(TEXTS, found, (field) => `"${field}"`);
    }),
  );
}

function nameOf(entry: unknown): string | undefined {
  const name = isMap(entry) ? entry['name'] : undefined;
  return isScopeName(name) ? name : undefined;
}

/** A scope-token (RFC 6749 3.3) without commas, because requests may separate scopes by commas. */
function isScopeName(name: unknown): name is string {
  return typeof name === 'string' && name.length <= MAX_NAME && SCOPE_TOKEN.test(name) && !name.includes(',');
}

function isNotReserved(name: string): boolean {
  return !isAdminScope(name);
}

function isOrigin(resource: unknown): resource is string {
  return typeof resource === 'string' && URL.canParse(resource) && new URL(resource).origin === resource;
}

/** One line. */
function isText(text: unknown): text is string {
  return typeof text === 'string' && text.length <= MAX_TEXT && /\S/.test(text) && !/\p{Cc}/u.test(text);
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
