/** SVG is none of them: it can hold scripts, and load from elsewhere. */
export type LogoMediaType = 'image/png' | 'image/jpeg' | 'image/webp';

/** The picture by which users recognise an application. */
export interface ClientLogo {
  readonly mediaType: LogoMediaType;
  /** At most 12 KiB. */
  readonly image: Buffer;
}

/** Whether it can be the name of a logo: the hexadecimal SHA-256 of an image. */
export function isLogoDigest(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}
