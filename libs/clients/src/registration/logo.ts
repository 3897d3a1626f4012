import { type Problem, problem, type Problems } from '#platform/validation/problem.js';
import type { ClientLogo, LogoMediaType } from '../client.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    logo_invalid:
      | { readonly reason: 'unreadable' | 'svg' }
      | { readonly reason: 'bytes'; readonly max: number }
      | { readonly reason: 'pixels'; readonly width: number; readonly height: number; readonly max: number };
  }
}

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

/**
 * Decodes the whole image, as browsers will. Skips values of other types, which `Registration` rejects.
 * @returns a null logo for null, and no logo for an absent value
 */
export async function readLogo(
  image: unknown,
): Promise<{ readonly logo?: ClientLogo | null; readonly problems: readonly Problem<'logo_invalid'>[] }> {
  if (image === null) return { logo: null, problems: [] };
  if (!Buffer.isBuffer(image)) return { problems: [] };
  const refuse = (values: Problems['logo_invalid']) => ({
    problems: [problem('logo_invalid', 'logo', values)],
  });
  if (image.length === 0) return refuse({ reason: 'unreadable' });
  if (/^\uFEFF?\s*<[^]*svg/i.test(image.toString('utf8', 0, 1_000))) return refuse({ reason: 'svg' });
  if (image.length > MAX_LOGO_BYTES) return refuse({ reason: 'bytes', max: MAX_LOGO_BYTES });
  const picture = await decode(image);
  if (!picture) return refuse({ reason: 'unreadable' });
  const { mediaType, width, height } = picture;
  if (width > MAX_PIXELS || height > MAX_PIXELS)
    return refuse({ reason: 'pixels', width, height, max: MAX_PIXELS });
  return { logo: { mediaType, image }, problems: [] };
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
