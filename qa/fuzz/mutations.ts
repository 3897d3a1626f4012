import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { INVALID_PROOFS } from '#test/support/invalid-proofs.js';
import type { Actor } from './actor.js';
import type { Draft, Field } from './draft.js';
import {
  HEADER_NAME,
  HEADER_VALUES,
  MARKUP,
  textOf,
  unexpectedName,
  type UnexpectedValue,
  unexpectedValue,
  valueOf,
  weighted,
} from './values.js';
import type { KnownSecrets } from './leaks.js';

/** A change to a request. It is data instead of a function, so that a finding can be repeated. */
export type Mutation =
  | { readonly parameter: number; readonly do: 'drop' | 'repeat' }
  | { readonly parameter: number; readonly do: 'set'; readonly to: UnexpectedValue }
  | { readonly parameter: number; readonly do: 'rename'; readonly to: string }
  | { readonly parameter: number; readonly do: 'other credential'; readonly pick: number }
  | { readonly add: 'query' | 'body'; readonly name: string; readonly value: UnexpectedValue }
  | { readonly many: 'query' | 'body' | 'headers' | 'cookies'; readonly count: number }
  | { readonly header: string; readonly do: 'set' | 'add'; readonly to: string | UnexpectedValue }
  | { readonly header: string; readonly do: 'drop' | 'repeat' | 'fold' }
  | { readonly header: string; readonly do: 'other credential'; readonly pick: number }
  | { readonly body: BodyChange; readonly at: number }
  | { readonly method: string }
  | { readonly path: PathChange | 'credential'; readonly at: number }
  | { readonly proof: number };

const BODY_CHANGES = {
  truncate: (bytes: Buffer, at: number) => bytes.subarray(0, at % (bytes.length + 1)),
  tail: (bytes: Buffer) => Buffer.concat([bytes, Buffer.from('\r\n{}&=')]),
  mark: (bytes: Buffer) => Buffer.concat([Buffer.from('\uFEFF'), bytes]),
  'UTF-16': (bytes: Buffer) => Buffer.from(bytes.toString(), 'utf16le'),
  'invalid UTF-8': (bytes: Buffer, at: number) =>
    Buffer.concat([
      bytes.subarray(0, at % (bytes.length + 1)),
      Buffer.from([0xc3, 0x28, 0xff, 0xf8, 0x80]),
      bytes,
    ]),
  gzip: (bytes: Buffer) => gzipSync(bytes),
  zeros: (bytes: Buffer, at: number) => Buffer.concat([bytes, Buffer.alloc(at % 70_000)]),
  flip: (bytes: Buffer, at: number) => {
    const flipped = Buffer.from(bytes);
    if (bytes.length > 0) flipped[at % bytes.length] = (flipped[at % bytes.length] ?? 0) ^ (1 << (at & 7));
    return flipped;
  },
  empty: () => Buffer.alloc(0),
  'array around it': (bytes: Buffer) => Buffer.from(`[${bytes.toString()}]`),
} as const satisfies Record<string, (bytes: Buffer, at: number) => Buffer>;

type BodyChange = keyof typeof BODY_CHANGES | 'other format' | 'chunked' | 'none' | 'one';

const PATH_CHANGES = {
  slash: (path: string) => `${path}/`,
  'double slash': (path: string) => `/${path}`,
  'dot segments': (path: string) => `/x/..${path}/.`,
  'encoded dots': (path: string) => `/x/%2e%2e${path}`,
  'upper case': (path: string) => path.toUpperCase(),
  encoded: (path: string, at: number) => encodeAt(path, at),
  'encoded slashes': (path: string) => `/${path.slice(1).replaceAll('/', '%2F')}`,
  backslashes: (path: string) => path.replaceAll('/', '\\'),
  matrix: (path: string) => `${path};a=b`,
  'bad percent': (path: string) => `${path}%`,
  'overlong UTF-8': (path: string) => `${path}%C0%AF`,
  'no UTF-8': (path: string) => `${path}\xFF\xFE`,
  NUL: (path: string) => `${path}%00`,
  fragment: (path: string) => `${path}#fragment`,
  'second question mark': (path: string) => `${path}??a=b`,
  markup: (path: string) => `${path}/${encodeURI(MARKUP)}`,
  'raw markup': (path: string) => `${path}/${MARKUP.replaceAll(' ', '')}`,
  'line end': (path: string) => `${path}%0d%0a${HEADER_NAME}:1`,
  long: (path: string, at: number) => `${path}/${'a'.repeat(at % 20_000)}`,
  deep: (path: string, at: number) => `${path}${'/a'.repeat(at % 4_000)}`,
  absolute: (path: string) => `http://localhost${path}`,
  'absolute of others': (path: string) => `https://evil.example${path}`,
  asterisk: () => '*',
  authority: () => 'localhost:443',
  empty: () => '',
  prototype: (path: string) => path.replace(/[^/]*$/, '__proto__'),
} as const satisfies Record<string, (path: string, at: number) => string>;

type PathChange = keyof typeof PATH_CHANGES;

const METHODS = 'GET HEAD POST PUT PATCH DELETE OPTIONS TRACE CONNECT PROPFIND QUERY get GETS X'.split(' ');

const at = fc.nat(70_000);
const which = fc.nat(15);
const headerName = fc.constantFrom(...HEADER_VALUES.keys());
const place = fc.constantFrom('query', 'body');
const bodyChanges = [...Object.keys(BODY_CHANGES), 'other format', 'chunked', 'none', 'one'] as BodyChange[];

export const mutation: fc.Arbitrary<Mutation> = weighted(
  [2, fc.record({ parameter: which, do: fc.constantFrom('drop', 'repeat') })],
  [6, fc.record({ parameter: which, do: fc.constant('set'), to: unexpectedValue })],
  [1, fc.record({ parameter: which, do: fc.constant('rename'), to: unexpectedName })],
  [2, fc.record({ parameter: which, do: fc.constant('other credential'), pick: fc.nat(99) })],
  [2, fc.record({ add: place, name: unexpectedName, value: unexpectedValue })],
  [
    1,
    fc.record({
      many: fc.constantFrom('query', 'body', 'headers', 'cookies'),
      count: fc.constantFrom(10, 100, 199, 201, 1_000, 3_000),
    }),
  ],
  [
    5,
    headerName.chain((header) =>
      fc.record({
        header: fc.constant(header),
        do: fc.constantFrom('set', 'add'),
        to: weighted([4, fc.constantFrom(...(HEADER_VALUES.get(header) ?? ['']))], [1, unexpectedValue]),
      }),
    ),
  ],
  [2, fc.record({ header: headerName, do: fc.constantFrom('drop', 'repeat', 'fold') })],
  [
    1,
    fc.record({
      // Excludes host headers, because the error page for a form opened at another host shows the host.
      header: headerName.filter((name) => !/host/i.test(name)),
      do: fc.constant('other credential'),
      pick: fc.nat(99),
    }),
  ],
  [3, fc.record({ body: fc.constantFrom(...bodyChanges), at })],
  [1, fc.record({ method: fc.constantFrom(...METHODS) })],
  [
    2,
    fc.record({
      path: fc.constantFrom('credential' as const, ...(Object.keys(PATH_CHANGES) as PathChange[])),
      at,
    }),
  ],
  [1, fc.record({ proof: fc.nat(INVALID_PROOFS.length - 1) })],
);

/** Mutates a request. Does nothing if the request lacks the part to mutate. */
export async function mutate(draft: Draft, change: Mutation, actor: Actor): Promise<void> {
  if ('parameter' in change) mutateParameter(draft, change, actor);
  else if ('add' in change)
    listOf(draft, change.add).push({ name: change.name, value: valueOf(change.value) });
  else if ('many' in change) addMany(draft, change);
  else if ('header' in change) mutateHeader(draft, change, actor);
  else if ('body' in change) mutateBody(draft, change, actor);
  else if ('method' in change) draft.method = change.method;
  else if ('path' in change) mutatePath(draft, change, actor);
  else await addProof(draft, change.proof, actor);
}

function listOf(draft: Draft, where: 'query' | 'body'): Field[] {
  return where === 'body' && draft.body ? draft.body.fields : draft.query;
}

type ParameterChange = Extract<Mutation, { parameter: number }>;

function mutateParameter(draft: Draft, change: ParameterChange, actor: Actor): void {
  const lists = [draft.query, draft.body?.fields ?? []];
  const all = lists.flatMap((list) => list.map((field) => ({ list, field })));
  const found = all[change.parameter % all.length];
  if (!found) return;
  const { list, field } = found;
  const index = list.indexOf(field);
  if (change.do === 'set') field.value = valueOf(change.to);
  else if (change.do === 'rename') {
    // The renamed field may now be, for example, a redirect_uri, which the product logs.
    actor.environment.secrets.forget(JSON.stringify(field.value));
    field.name = change.to;
  } else if (change.do === 'other credential') {
    // Console and portal display submitted names, so credentials are not put into their requests.
    if (draft.app !== 'console' && draft.app !== 'developers')
      field.value = credentialFor(field, change.pick, actor);
  } else if (change.do === 'drop') list.splice(index, 1);
  else list.push({ ...field });
}

/** Returns the password for half of the username fields, because users make this mistake. */
function credentialFor({ name }: Field, pick: number, actor: Actor): string {
  return name === 'username' && pick % 2 === 1 ? actor.user.password : actor.retiredCredential(pick);
}

function addMany(draft: Draft, { many, count }: Extract<Mutation, { many: string }>): void {
  const names = Array.from({ length: count }, (_, n) => `f${n}`);
  if (many === 'headers') draft.headers.push(...names.map((name) => ({ name, value: '1' })));
  else if (many === 'cookies')
    draft.headers.push({ name: 'Cookie', value: names.map((name) => `${name}=1`).join('; ') });
  else listOf(draft, many).push(...names.map((name) => ({ name, value: '1' })));
}

type HeaderChange = Extract<Mutation, { header: string }>;

function mutateHeader(draft: Draft, change: HeaderChange, actor: Actor): void {
  const name = change.header;
  const found = draft.headers.filter((header) => header.name.toLowerCase() === name.toLowerCase());
  if (change.do === 'repeat') draft.headers.push(...found);
  else if (change.do === 'fold') for (const header of found) header.value = `${header.value}\r\n folded`;
  else if (change.do !== 'add') draft.headers = draft.headers.filter((header) => !found.includes(header));
  if (change.do === 'other credential')
    draft.headers.push({ name, value: actor.retiredCredential(change.pick) });
  if (change.do !== 'set' && change.do !== 'add') return;
  const value = typeof change.to === 'string' ? change.to : textOf(change.to);
  draft.headers.push({ name, value });
}

function mutateBody(
  draft: Draft,
  { body: change, at: position }: Extract<Mutation, { body: BodyChange }>,
  { environment }: Actor,
): void {
  if (change === 'one') draft.body ??= { format: 'json', fields: [], changes: [], chunked: false };
  else if (change === 'none') draft.body = null;
  if (!draft.body) return;
  if (change === 'chunked') draft.body.chunked = true;
  else if (change === 'other format') draft.body.format = draft.body.format === 'form' ? 'json' : 'form';
  else if (change !== 'one' && change !== 'none') {
    if (change === 'flip') forgetVerifier(draft, environment.secrets);
    const alter = BODY_CHANGES[change];
    draft.body.changes.push((bytes) => alter(bytes, position));
  }
}

/** Removes the verifier from the secrets: a changed separator can append it to the redirect_uri, which is logged. */
export function forgetVerifier({ body }: Pick<Draft, 'body'>, secrets: Pick<KnownSecrets, 'forget'>): void {
  for (const { name, value } of body?.fields ?? [])
    if (name === 'code_verifier') secrets.forget(JSON.stringify(value));
}

async function addProof(draft: Draft, index: number, actor: Actor): Promise<void> {
  const { uri, method } = draft;
  const proofs = await INVALID_PROOFS[index]?.make({ key: actor.key, method, uri });
  draft.headers = draft.headers.filter(({ name }) => name !== 'DPoP');
  for (const value of [proofs ?? []].flat()) draft.headers.push({ name: 'DPoP', value });
}

function mutatePath(
  draft: Draft,
  { path: change, at: position }: Extract<Mutation, { path: string }>,
  actor: Actor,
): void {
  draft.path =
    change === 'credential'
      ? `${draft.path}/${actor.retiredCredential(position)}`
      : PATH_CHANGES[change](draft.path, position);
}

function encodeAt(path: string, position: number): string {
  const index = position % path.length;
  return `${path.slice(0, index)}%${path.charCodeAt(index).toString(16)}${path.slice(index + 1)}`;
}
