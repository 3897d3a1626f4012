import type { FuzzedApp } from './test-environment.js';

/** Text that is sent without encoding, one byte per character. */
export interface Verbatim {
  readonly raw: string;
}

/** Values other than strings and `Verbatim` are sent as JSON, even in forms. */
export interface Field {
  name: string;
  value: unknown;
}

export interface Header {
  name: string;
  /** Sent as one byte per character. */
  value: string;
}

export interface Body {
  format: 'form' | 'json';
  fields: Field[];
  readonly changes: ((bytes: Buffer) => Buffer)[];
  chunked: boolean;
}

/** A request before it is encoded. */
export interface Draft {
  readonly app: FuzzedApp;
  readonly internal: boolean;
  /** `htu` claim of the request's DPoP proof. */
  readonly uri: string;
  method: string;
  path: string;
  query: Field[];
  headers: Header[];
  body: Body | null;
}

function isVerbatim(value: unknown): value is Verbatim {
  return typeof value === 'object' && value !== null && 'raw' in value && typeof value.raw === 'string';
}

export function targetOf({ path, query }: Draft): string {
  return query.length === 0 ? path : `${path}?${formOf(query)}`;
}

/** Adds Content-Length or chunked framing unless a header already declares the framing. */
export function encode(draft: Draft): Buffer {
  const { body, headers, method } = draft;
  const bytes = body && bytesOf(body);
  const claimed = headers.some(({ name }) => /^(content-length|transfer-encoding)$/i.test(name));
  const framing: Header[] = [];
  if (bytes && !claimed)
    framing.push(
      body.chunked
        ? { name: 'Transfer-Encoding', value: 'chunked' }
        : { name: 'Content-Length', value: String(bytes.length) },
    );
  const lines = [...headers, ...framing].map(({ name, value }) => `${name}: ${value}\r\n`).join('');
  const head = Buffer.from(`${method} ${targetOf(draft)} HTTP/1.1\r\n${lines}\r\n`, 'latin1');
  if (!bytes) return head;
  return Buffer.concat([head, body.chunked && !claimed ? chunked(bytes) : bytes]);
}

function bytesOf({ format, fields, changes }: Body): Buffer {
  const text = format === 'form' ? formOf(fields) : jsonOf(fields);
  const bytes = Buffer.from(text, format === 'form' ? 'latin1' : 'utf8');
  return changes.reduce<Buffer>((before, change) => change(before), bytes);
}

function chunked(bytes: Buffer): Buffer {
  const half = Math.ceil(bytes.length / 2);
  const chunks = [bytes.subarray(0, half), bytes.subarray(half)].filter(({ length }) => length > 0);
  const parts = chunks.flatMap((chunk) => [
    Buffer.from(`${chunk.length.toString(16)}\r\n`),
    chunk,
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')]);
}

function formOf(fields: readonly Field[]): string {
  return fields.map(({ name, value }) => `${percent(name)}=${formValue(value)}`).join('&');
}

function formValue(value: unknown): string {
  if (isVerbatim(value)) return value.raw;
  return percent(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
}

/** Supports repeated names, unlike JSON.stringify. */
function jsonOf(fields: readonly Field[]): string {
  const members = fields.map(
    ({ name, value }) =>
      `${JSON.stringify(name)}:${isVerbatim(value) ? value.raw : (JSON.stringify(value) ?? 'null')}`,
  );
  return `{${members.join(',')}}`;
}

/** Percent-encodes text. Accepts lone surrogates, for which encodeURIComponent throws. */
function percent(text: string): string {
  let encoded = '';
  for (const character of text) {
    if (/[\w.~-]/.test(character)) encoded += character;
    else
      for (const byte of utf8(character)) encoded += `%${byte.toString(16).padStart(2, '0').toUpperCase()}`;
  }
  return encoded;
}

function utf8(character: string): Iterable<number> {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0xd8_00 || code > 0xdf_ff) return Buffer.from(character);
  return [0xed, 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)];
}
