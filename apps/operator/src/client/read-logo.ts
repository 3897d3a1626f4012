import { open } from 'node:fs/promises';
import type { ClientLogo, LogoMediaType } from '#directory/client-logo.js';

const MAX_BYTES = 12_288;
const MAX_PIXELS = 512;
const MEDIA_TYPES = new Map<string | undefined, LogoMediaType>([
  ['png', 'image/png'],
  ['jpeg', 'image/jpeg'],
  ['webp', 'image/webp'],
]);
/** What libvips calls its decoders of these formats. It has many more, which a file could ask for. */
const DECODERS = ['VipsForeignLoadPngBuffer', 'VipsForeignLoadJpegBuffer', 'VipsForeignLoadWebpBuffer'];

interface Picture {
  readonly mediaType: LogoMediaType;
  readonly width: number;
  readonly height: number;
}

/** What `--logo` names, or what is wrong with it. */
export interface GivenLogo {
  readonly logo?: ClientLogo;
  readonly problems: readonly string[];
}

/**
 * Reads the file that `--logo` names, and decodes all of it, as browsers will. What it is, its first bytes say and not
 * its name: browsers are told so, and shall not guess.
 */
export async function readLogo(file: string | undefined): Promise<GivenLogo> {
  if (file === undefined) return { problems: [] };
  const image = await readFirst(file, MAX_BYTES + 1).catch(() => null);
  if (image === null) return problem('cannot be read: give the path of a PNG, JPEG or WebP file');
  if (/^\uFEFF?\s*<[^]*svg/i.test(image.toString('utf8', 0, 1_000)))
    return problem('is an SVG, which can hold scripts and load from elsewhere: convert it to PNG or WebP');
  if (image.length > MAX_BYTES)
    return problem('is larger than 12 KiB: make it smaller, users wait for it on every page');
  const picture = await decode(image);
  if (!picture) return problem('is no complete PNG, JPEG or WebP: convert it');
  const { mediaType, width, height } = picture;
  if (width > MAX_PIXELS || height > MAX_PIXELS)
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

/**
 * What the image is, null for what no browser can show in full. The library is loaded when it is needed, as the stores
 * are: most commands have no logo.
 */
async function decode(image: Buffer): Promise<Picture | null> {
  const { default: sharp } = await import('sharp');
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: DECODERS });
  try {
    // A picture that is cut off is a warning only.
    const decoder = sharp(image, { failOn: 'warning' });
    const { format, width, height } = await decoder.metadata();
    // The pixels of a small file can fill any memory.
    if (width <= MAX_PIXELS && height <= MAX_PIXELS) await decoder.raw().toBuffer();
    const mediaType = MEDIA_TYPES.get(format);
    return mediaType ? { mediaType, width, height } : null;
  } catch {
    return null;
  }
}
