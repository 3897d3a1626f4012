/** The fields before the MACs: version, key id, handle, kind, generation and expiry. */
const SAID_BYTES = 31;
const KIND_AT = 21;
const BOUND_FLAG = 0x80;
/** Offsets and lengths of MACs and their halves, in this token format and the previous one. */
const OFFSETS = [0, 16, 18, 32];
const PART_BYTES = [16, 18, 32];
const MAC_BYTES = [32, 50];

/**
 * Forgeries of a bound token that need no key: the fields, as they are or with the bound flag cleared, followed by a part of
 * the MACs, repeated to the length of a token's MACs.
 */
export function rearranged(token: string): string[] {
  const [prefix, bytes] = [token.slice(0, 4), Buffer.from(token.slice(4), 'base64url')];
  const said = bytes.subarray(0, SAID_BYTES);
  const saidAsBearer = Buffer.from(said);
  saidAsBearer.writeUInt8(said.readUInt8(KIND_AT) & ~BOUND_FLAG, KIND_AT);
  const macs = bytes.subarray(SAID_BYTES);
  const parts = OFFSETS.flatMap((at) => PART_BYTES.map((length) => macs.subarray(at, at + length)));
  const texts = [said, saidAsBearer].flatMap((beginning) =>
    parts
      .filter(({ length }) => length > 0)
      .flatMap((part) => MAC_BYTES.map((length) => [beginning, Buffer.alloc(length, part)])),
  );
  const forged = texts.map((both) => prefix + Buffer.concat(both).toString('base64url'));
  return [...new Set(forged)].filter((text) => text !== token);
}
