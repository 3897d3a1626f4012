import { isNode, LineCounter, parseDocument } from 'yaml';
import { mapFlags } from '../../client-flags.js';
import type { TransferredClient, TransferredSecret } from '../../client-transfer.store.js';
import { nameProblems } from '#oauth/registration/client-rules.js';
import { jwksUriProblem, linkProblems } from '#oauth/registration/client-links.js';
import type { ClientLinks, LogoutUris, TokenRules } from '../../client.js';
import { DEVICE_CODE } from '#oauth/device-authorization.js';
import { type ClientKeys, type ClientType, hasKeys, isClientId, isDocumentUrl } from '#oauth/oauth-client.js';
import { keysOf } from '../keys.js';
import {
  algorithmProblems,
  sectorOf,
  sectorProblems,
  storedAlgorithm,
  subjectProblems,
} from '../openid-registration.js';
import { DEFAULT_SIGNING_ALGORITHM, type SigningAlgorithm } from '#oauth/openid/signing-keys.js';
import { checkLogo } from '../logo.js';
import type { Next, Problem } from '#operations/administration.error.js';
import { quoted } from '#operations/wording.js';
import { FIELDS, VERSION } from './client-file.js';

type Report = (problem: string, field?: string, index?: number, next?: Next) => void;

/** A client of the file, before the checks that need the database. */
export interface ClientOfFile extends Omit<TransferredClient, 'createdAt' | 'secrets' | keyof ClientKeys> {
  readonly createdAt: Date | null;
  readonly secrets: readonly TransferredSecret[] | null;
  readonly keys: ClientKeys | null;
  readonly report: Report;
}

type Fields = Readonly<Record<string, unknown>>;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const SHA256 = /^[0-9a-f]{64}$/;
const DAY = /^\d{4}-\d\d-\d\d$/;
/** Two, so that an application can switch to a new secret without an interruption. */
const MAX_SECRETS = 2;

/** @param problems receives every problem in the file, and later the problems that a client's `report` adds */
export async function readClientFile(text: string, problems: Problem[]): Promise<ClientOfFile[]> {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const lineAt = (offset: number): number => lines.linePos(offset).line;
  const add = (line: number, message: string, next?: Next) =>
    problems.push({
      id: 'client_file_invalid',
      line,
      message: `line ${line}: ${message}`,
      ...(next && { next }),
    });
  if (document.errors.length > 0) {
    for (const { pos, message } of document.errors) add(lineAt(pos[0]), message);
    return [];
  }
  /** Line of the innermost node of the path that exists in the file. */
  const lineOf = (path: readonly (string | number)[]): number => {
    for (let length = path.length; length > 0; length--) {
      const node = document.getIn(path.slice(0, length), true);
      if (isNode(node) && node.range) return lineAt(node.range[0]);
    }
    return 1;
  };
  const entries = clientsOf(contentOf(document), (problem, field) =>
    add(lineOf(field === undefined ? [] : [field]), problem),
  );
  const read: ClientOfFile[] = [];
  for (const [index, entry] of entries.entries()) {
    const path = ['clients', index];
    const report: Report = (problem, field, element, next) => {
      const at = [field, element].filter((part) => part !== undefined);
      add(lineOf([...path, ...at]), [field, problem].filter(Boolean).join(': '), next);
    };
    const client = await readClient(entry, report);
    if (!client) continue;
    const isDuplicate = read.some(({ clientId }) => clientId === client.clientId);
    if (isDuplicate) report(`${quoted(client.clientId)} is in the file twice`, 'client_id');
    // Keeps a client with problems, so that the database checks can report further problems.
    else read.push(client);
  }
  return read;
}

function readOpenId(
  entry: Fields,
  redirectUris: readonly string[],
  report: Report,
): Pick<TransferredClient, 'idTokenAlg' | 'sector'> {
  const { id_token_alg: alg = DEFAULT_SIGNING_ALGORITHM, subject = 'public' } = entry;
  const problems = {
    id_token_alg: algorithmProblems('it', alg),
    subject: [
      ...subjectProblems('it', subject),
      ...(subject === 'pairwise' ? sectorProblems('redirect URI', redirectUris, null) : []),
    ],
  };
  for (const [field, messages] of Object.entries(problems))
    for (const problem of messages) report(problem, field);
  return {
    idTokenAlg: storedAlgorithm(alg as SigningAlgorithm),
    sector: subject === 'pairwise' ? sectorOf(redirectUris) : null,
  };
}

/** Returns undefined if the parser throws because aliases expand too far. */
function contentOf(document: ReturnType<typeof parseDocument>): unknown {
  try {
    return document.toJS();
  } catch {
    return undefined;
  }
}

function clientsOf(content: unknown, report: Report): readonly unknown[] {
  if (!isFields(content)) {
    report(`it must be a map with version: ${VERSION} and the list clients, as "client export" writes it`);
    return [];
  }
  const { version, clients, ...others } = content;
  if (version !== VERSION) report(`version must be ${VERSION}`, 'version');
  for (const unknown of Object.keys(others)) report(`unknown field ${quoted(unknown)}`, unknown);
  if (Array.isArray(clients)) return clients;
  report('clients must be a list', 'clients');
  return [];
}

async function readClient(entry: unknown, report: Report): Promise<ClientOfFile | null> {
  if (!isFields(entry)) {
    report('a client must be a map with client_id, name, type, redirect_uris and scopes');
    return null;
  }
  for (const unknown of Object.keys(entry).filter((name) => !FIELDS.includes(name)))
    report(`unknown field ${quoted(unknown)}: the fields are ${FIELDS.join(' ')}`, unknown);
  const { client_id: clientId, name, type } = entry;
  if (typeof clientId !== 'string' || !isClientId(clientId)) {
    report('must be 1 to 255 characters of visible ASCII', 'client_id');
    return null;
  }
  if (isDocumentUrl(clientId))
    report('must not be a URL: that is the client_id of a metadata document', 'client_id');
  for (const problem of nameProblems('it', name, 'users see it when they allow access'))
    report(problem, 'name');
  if (type !== 'confidential' && type !== 'public') report('must be confidential or public', 'type');
  const redirectUris = readTexts(entry, 'redirect_uris', report);
  const scopes = readTexts(entry, 'scopes', report);
  const rules = readRules(entry, report);
  const needed =
    rules.grantType === 'client_credentials' || rules.deviceGrant
      ? { scopes }
      : { redirect_uris: redirectUris, scopes };
  for (const [field, texts] of Object.entries(needed))
    if (texts.length === 0) report('must be a list with at least one element', field);
  const optionalScopes =
    entry['optional_scopes'] === undefined ? [] : readTexts(entry, 'optional_scopes', report);
  const privateSchemes =
    entry['private_schemes'] === undefined ? [] : readTexts(entry, 'private_schemes', report);
  const secrets = readSecrets(entry['secrets'], type as ClientType, report);
  const keys = readKeys(entry, type as ClientType, report);
  return {
    clientId,
    name: String(name),
    type: type as ClientType,
    redirectUris,
    privateSchemes,
    scopes,
    optionalScopes,
    ...mapFlags((_, { name: field, initially }) => readBoolean(entry, field, report, initially)),
    ...rules,
    ...readLogoutUris(entry, report),
    ...readOpenId(entry, redirectUris, report),
    ...readLinks(entry, report),
    disabled: readBoolean(entry, 'disabled', report),
    createdAt: readTime(entry['created_at'], report),
    secrets,
    keys,
    logo: await readLogoOf(entry['logo'], report),
    report,
  };
}

function readTexts(entry: Fields, field: string, report: Report): string[] {
  const { [field]: texts } = entry;
  if (!Array.isArray(texts)) {
    if (texts !== undefined) report('must be a list', field);
    return [];
  }
  texts.forEach((text: unknown, index) => {
    if (typeof text !== 'string') report('must be text', field, index);
    else if (texts.indexOf(text) < index) report(`${quoted(text)} is given twice`, field, index);
  });
  return texts.map(String);
}

function readLogoutUris(entry: Fields, report: Report): LogoutUris {
  const uris = entry['post_logout_redirect_uris'];
  return {
    postLogoutRedirectUris: uris === undefined ? [] : readTexts(entry, 'post_logout_redirect_uris', report),
    backchannelLogoutUri: readAddress(entry, 'backchannel_logout_uri', report),
  };
}

const LINK_FIELDS = { clientUri: 'client_uri', policyUri: 'policy_uri', contacts: 'contacts' } as const;

function readLinks(entry: Fields, report: Report): ClientLinks {
  const links = {
    clientUri: readAddress(entry, 'client_uri', report),
    policyUri: readAddress(entry, 'policy_uri', report),
    contacts: entry['contacts'] === undefined ? [] : readTexts(entry, 'contacts', report),
  };
  for (const field of Object.keys(LINK_FIELDS) as (keyof ClientLinks)[])
    for (const problem of linkProblems({ [field]: links[field] }, () => ''))
      report(problem.trim(), LINK_FIELDS[field]);
  return links;
}

function readAddress(entry: Fields, field: string, report: Report): string | null {
  const { [field]: value = null } = entry;
  if (value !== null && typeof value !== 'string') report('must be text', field);
  return typeof value === 'string' ? value : null;
}

function readBoolean(entry: Fields, field: string, report: Report, absent = false): boolean {
  const { [field]: value = absent } = entry;
  if (typeof value !== 'boolean') report('must be true or false', field);
  return value === true;
}

function readTime(value: unknown, report: Report): Date | null {
  if (value === undefined) return null;
  const time = new Date(typeof value === 'string' ? value : Number.NaN);
  if (!Number.isNaN(time.getTime())) return time;
  report('must be a time like 2026-01-31T12:00:00.000Z', 'created_at');
  return null;
}

function readSecrets(value: unknown, type: ClientType, report: Report): TransferredSecret[] | null {
  if (value === undefined) return type === 'public' ? [] : null;
  if (type === 'public') report('a public client has none: remove them (RFC 6749 2.1)', 'secrets');
  if (!Array.isArray(value) || value.length > MAX_SECRETS) {
    report(`must be a list of at most ${MAX_SECRETS}`, 'secrets');
    return null;
  }
  return value.flatMap((secret: unknown, index) => {
    const { id, sha256, created_on: day, ...others } = isFields(secret) ? secret : {};
    const unknown = Object.keys(others);
    const createdAt = day === undefined ? new Date() : startOfDay(day);
    if (typeof id !== 'string' || !UUID.test(id))
      report('its id must be a UUID in lower case', 'secrets', index);
    else if (typeof sha256 !== 'string' || !SHA256.test(sha256))
      report('its sha256 must be 64 hexadecimal digits in lower case', 'secrets', index);
    else if (Number.isNaN(createdAt.getTime()))
      report('its created_on must be a day like 2026-01-31', 'secrets', index);
    else if (unknown.length > 0) report(`unknown field ${quoted(unknown.join(' '))}`, 'secrets', index);
    else return [{ id, hash: Buffer.from(sha256, 'hex'), createdAt }];
    return [];
  });
}

function readRules(entry: Fields, report: Report): TokenRules {
  const { profile = null } = entry;
  if (profile !== null && profile !== 'fapi2') report('must be fapi2, or absent', 'profile');
  return {
    ...readGrantTypes(entry['grant_types'], report),
    profile: profile === 'fapi2' ? profile : null,
    dpopBound: readBoolean(entry, 'dpop_bound_access_tokens', report),
    keepsRefreshToken: !readBoolean(entry, 'refresh_token_rotation', report, true),
  };
}

/** Reads `grant_types` (RFC 7591 2). Without redirect URIs, `authorization_code` has no effect. */
function readGrantTypes(value: unknown, report: Report): Pick<TokenRules, 'grantType' | 'deviceGrant'> {
  const types = new Set(
    value === undefined ? ['authorization_code'] : Array.isArray(value) ? (value as unknown[]) : [],
  );
  const deviceGrant = types.delete(DEVICE_CODE);
  const [type] = types;
  if (type === 'client_credentials' && types.size === 1) return { grantType: type, deviceGrant };
  if (
    types.size > 1 ||
    (type ?? 'authorization_code') !== 'authorization_code' ||
    (!deviceGrant && types.size === 0)
  )
    report(`must be [client_credentials], or a list of authorization_code and ${DEVICE_CODE}`, 'grant_types');
  return { grantType: 'authorization_code', deviceGrant };
}

/**
 * `jwks: null` or `jwks_uri: null` in the file removes the keys.
 * @returns null if the file contains neither field, which keeps the keys
 */
function readKeys(entry: Fields, type: ClientType, report: Report): ClientKeys | null {
  const { jwks: set, jwks_uri: uri } = entry;
  if (set === undefined && uri === undefined) return null;
  const none = { jwks: null, jwksUri: null };
  const field = (set ?? null) === null ? 'jwks_uri' : 'jwks';
  if ((set ?? null) !== null && (uri ?? null) !== null) report('jwks and jwks_uri exclude each other', field);
  const keys = (set ?? null) === null ? readJwksUri(uri) : keysOf(JSON.stringify(set));
  if (typeof keys === 'string') {
    report(keys, field);
    return none;
  }
  if (type === 'public' && hasKeys(keys))
    report('a public client has none: remove them (RFC 6749 2.1)', field);
  return keys;
}

function readJwksUri(uri: unknown): ClientKeys | string {
  if (uri === undefined || uri === null) return { jwks: null, jwksUri: null };
  if (typeof uri !== 'string') return 'must be text';
  return jwksUriProblem(uri) ?? { jwks: null, jwksUri: uri };
}

function startOfDay(day: unknown): Date {
  return new Date(typeof day === 'string' && DAY.test(day) ? `${day}T00:00:00.000Z` : Number.NaN);
}

async function readLogoOf(value: unknown, report: Report): Promise<TransferredClient['logo']> {
  if (value === undefined || value === null) return null;
  const { media_type: mediaType, image } = isFields(value) ? value : {};
  const base64 = typeof image === 'string' ? image.replaceAll(/\s/g, '') : '';
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) {
    report('must have media_type, and the image in base64', 'logo');
    return null;
  }
  const checked = await checkLogo(Buffer.from(base64, 'base64'));
  if (typeof checked === 'string') report(`it ${checked}`, 'logo');
  else if (checked.mediaType !== mediaType) report(`its media_type must be ${checked.mediaType}`, 'logo');
  else return checked;
  return null;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
