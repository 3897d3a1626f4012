import { open } from 'node:fs/promises';
import type { ClientLogo, LogoMediaType } from '#directory/client-logo.js';

const MAX_BYTES = 12_288;
const MAX_PIXELS = 512;
const MEDIA_TYPES = new Map<string | undefined, LogoMediaType>([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['webp', 'image/webp'],
]);

/** What `--logo` names, or what is wrong with it. */
export interface GivenLogo {
  readonly logo?: ClientLogo;
  readonly problems: readonly string[];
}

/**
 * Reads the file that `--logo` names. What it is, its first bytes say and not its name: browsers are told so, and
 * shall not guess.
 */
export async function readLogo(file: string | undefined): Promise<GivenLogo> {
  if (file === undefined) return { problems: [] };
  const image = await readFirst(file, MAX_BYTES + 1).catch(() => null);
  if (image === null) return problem('cannot be read: give the path of a PNG, JPEG or WebP file');
  if (/^\uFEFF?\s*<[^]*svg/i.test(image.toString('utf8', 0, 1_000)))
    return problem('is an SVG, which can hold scripts and load from elsewhere: convert it to PNG or WebP');
  if (image.length > MAX_BYTES)
    return problem('is larger than 12 KiB: make it smaller, users wait for it on every page');
  const { type, width = 0, height = 0 } = await measure(image);
  const mediaType = MEDIA_TYPES.get(type);
  if (!mediaType) return problem('is no complete PNG, JPEG or WebP: convert it');
  if (width < 1 || height < 1 || width > MAX_PIXELS || height > MAX_PIXELS)
    return problem(`is ${width} by ${height} pixels: ${MAX_PIXELS} by ${MAX_PIXELS} is the most`);
  return { logo: { mediaType, image }, problems: [] };
}

const problem = (what: string): GivenLogo => ({ problems: [`--logo ${what}`] });

/** No more than that is read, whatever it is. */
async function readFirst(file: string, bytes: number): Promise<Buffer> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** Loaded when it is needed, as the stores are: most commands have no logo. */
async function measure(image: Buffer): Promise<{ type?: string; width?: number; height?: number }> {
  const { imageSize } = await import('image-size');
  try {
    return imageSize(image);
  } catch {
    return {};
  }
}
