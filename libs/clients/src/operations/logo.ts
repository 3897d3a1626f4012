import type { ClientLogo, LogoMediaType } from '../client.js';

export const MAX_LOGO_BYTES = 128 * 1024;
const MAX_PIXELS = 512;
/** Limits of a logo, for people. */
export const LOGO_LIMITS = `at most ${MAX_LOGO_BYTES / 1024} KiB and ${MAX_PIXELS} × ${MAX_PIXELS} pixels`;
const MEDIA_TYPES = new Map<string | undefined, LogoMediaType>([
  ['png', 'image/png'],
  ['jpeg', 'image/jpeg'],
  ['webp', 'image/webp'],
]);
export const LOGO_MEDIA_TYPES: readonly string[] = [...MEDIA_TYPES.values()];
/** libvips decoders of the supported formats. The content selects the decoder, so all other decoders are blocked. */
const DECODERS = ['VipsForeignLoadPngBuffer', 'VipsForeignLoadJpegBuffer', 'VipsForeignLoadWebpBuffer'];

interface Picture {
  readonly mediaType: LogoMediaType;
  readonly width: number;
  readonly height: number;
}

/** Decodes the whole image, as browsers will. @returns the logo, or the problem */
export async function checkLogo(image: Buffer): Promise<ClientLogo | string> {
  if (image.length === 0) return 'is not a complete PNG, JPEG or WebP image, or cannot be read';
  if (/^\uFEFF?\s*<[^]*svg/i.test(image.toString('utf8', 0, 1_000)))
    return 'is an SVG, which can hold scripts and load from elsewhere: convert it to PNG or WebP';
  if (image.length > MAX_LOGO_BYTES)
    return `is larger than ${MAX_LOGO_BYTES / 1024} KiB: make it smaller, since every page loads it`;
  const picture = await decode(image);
  if (!picture) return 'is not a complete PNG, JPEG or WebP image: convert it';
  const { mediaType, width, height } = picture;
  if (width > MAX_PIXELS || height > MAX_PIXELS)
    return `is ${width} by ${height} pixels: scale it to ${MAX_PIXELS} by ${MAX_PIXELS} at most`;
  return { mediaType, image };
}

/** Loads sharp on demand, because most operations need no logo. */
async function decode(image: Buffer): Promise<Picture | null> {
  const { default: sharp } = await import('sharp');
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: DECODERS });
  try {
    // sharp reports a truncated image only as a warning.
    const decoder = sharp(image, { failOn: 'warning' });
    const { format, width, height } = await decoder.metadata();
    // Checks the dimensions before decoding, because a small file can expand to gigabytes of pixels.
    if (width <= MAX_PIXELS && height <= MAX_PIXELS) await decoder.raw().toBuffer();
    const mediaType = MEDIA_TYPES.get(format);
    return mediaType ? { mediaType, width, height } : null;
  } catch {
    return null;
  }
}
