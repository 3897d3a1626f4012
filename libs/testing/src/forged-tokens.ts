/** How a token begins that says what it stands for: version, key id, handle, kind, generation and expiry. */
const SAID_BYTES = 31;
const KIND_AT = 21;
const BOUND_FLAG = 0x80;
/** Where a MAC, or a part of one, begins or ends in this format or in the one before; and how long such parts are. */
const OFFSETS = [0, 16, 18, 32];
const PART_BYTES = [16, 18, 32];
const MAC_BYTES = [32, 50];

/**
 * What a thief without the key can make of a bound token by its bytes alone: what it says, as it is or as a bearer
 * token would say it, followed by a part of its MACs that is repeated until the length is that of a token.
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
