import { mkdtemp, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';

const PACKAGES = ['@expo-google-fonts/inter', '@expo-google-fonts/noto-sans-arabic'];

/**
 * Restricts browsers started from now on to these fonts: the pages use the system's fonts, and every
 * machine has different ones.
 */
export async function useOwnFonts(): Promise<void> {
  const { resolve } = createRequire(import.meta.url);
  const folders = PACKAGES.map((name) => path.dirname(resolve(`${name}/package.json`)));
  const folder = await mkdtemp(path.join(tmpdir(), 'fonts-'));
  const file = path.join(folder, 'fonts.conf');
  await writeFile(
    file,
    `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>
      ${folders.map((one) => `<dir>${one}</dir>`).join('')}
      <cachedir>${folder}</cachedir>
      ${['system-ui', 'sans-serif', 'monospace']
        .map(
          (generic) =>
            `<alias binding="same"><family>${generic}</family><prefer><family>Inter</family><family>Noto Sans Arabic</family></prefer></alias>`,
        )
        .join('')}
    </fontconfig>`,
  );
  process.env['FONTCONFIG_FILE'] = file;
}
