import { createHash } from 'node:crypto';

export interface BrandImage {
  /** File name, which consists of the start of the SHA-256 and the type. */
  readonly name: string;
  readonly mediaType: 'image/svg+xml' | 'image/png';
  readonly content: Buffer;
  readonly ratio: number;
}

const MAX_KIB = 64;
const MAX_RATIO = 12;
const RULE = `it must be an SVG with a viewBox, or a PNG, of at most ${MAX_KIB} KiB, at least as wide as high and at most ${MAX_RATIO} times as wide`;

/**
 * Reads a PNG or an SVG. Accepts an SVG with scripts, because browsers do not run scripts in images, and the
 * Content-Security-Policy forbids them.
 * @throws Error
 */
export function readImage(content: Buffer): BrandImage {
  const size = content.length > MAX_KIB * 1024 ? null : (pngSize(content) ?? svgSize(content));
  const ratio = size ? size.width / size.height : 0;
  if (!size || !(ratio >= 1 && ratio <= MAX_RATIO)) throw new Error(RULE);
  return brandImage(content, size.type, ratio);
}

export function brandImage(content: Buffer, type: 'svg' | 'png', ratio: number): BrandImage {
  const digest = createHash('sha256').update(content).digest('hex').slice(0, 16);
  return {
    name: `${digest}.${type}`,
    mediaType: type === 'svg' ? 'image/svg+xml' : 'image/png',
    content,
    ratio,
  };
}

interface Size {
  readonly type: 'svg' | 'png';
  readonly width: number;
  readonly height: number;
}

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** Reads the size after the signature, from the start of the IHDR chunk (PNG 5.2 and 11.2.2). */
function pngSize(content: Buffer): Size | null {
  if (
    content.length < 24 ||
    !content.subarray(0, 8).equals(PNG) ||
    content.toString('latin1', 12, 16) !== 'IHDR'
  )
    return null;
  return { type: 'png', width: content.readUInt32BE(16), height: content.readUInt32BE(20) };
}

const SVG = /^<svg\s([^>]*)>/;
const VIEW_BOX = /\bviewBox\s*=\s*["']\s*[-\d.]+[\s,]+[-\d.]+[\s,]+([\d.]+)[\s,]+([\d.]+)\s*["']/;

function svgSize(content: Buffer): Size | null {
  const [, attributes = ''] = SVG.exec(withoutProlog(content.toString())) ?? [];
  const [, width, height] = VIEW_BOX.exec(attributes) ?? [];
  return width && height ? { type: 'svg', width: Number(width), height: Number(height) } : null;
}

/** Removes the XML declaration and comments before the root element. */
function withoutProlog(text: string): string {
  let rest = text.replace(/^\uFEFF/, '').trimStart();
  for (;;) {
    const end = rest.startsWith('<?xml') ? '?>' : rest.startsWith('<!--') ? '-->' : null;
    const at = end === null ? -1 : rest.indexOf(end, 4);
    if (end === null || at < 0) return rest;
    rest = rest.slice(at + end.length).trimStart();
  }
}
