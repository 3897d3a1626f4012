import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright-core';
import { runCommand } from '#local/servers/run-command.js';
import { findLibraries, type WantedLibrary } from '../foreign-library.js';
import { launchBrowser, packagedChromium } from '../chromium.js';

describe('foreign library', () => {
  describe('an unavailable library of another language', () => {
    let folder: string;

    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'library-test-'));
    });

    afterEach(() => rm(folder, { recursive: true, force: true }));

    it('is reported in one line with its packages and the cause', async () => {
      const libraries: WantedLibrary[] = [
        { interpreter: 'python3', packages: ['python3-nothing', 'python3-more'], probe: 'import nothing' },
        { interpreter: 'ruby', packages: ['ruby-nothing'], probe: 'require "nothing"' },
      ];
      expect(await findLibraries(libraries, { env: { PATH: '/nowhere' }, folder })).toEqual([
        {
          missing:
            'install python3-nothing and python3-more, as Debian calls them (apt-get is not installed: only Debian and Ubuntu have it)',
        },
        {
          missing:
            'install ruby-nothing, as Debian calls them (apt-get is not installed: only Debian and Ubuntu have it)',
        },
      ]);
      expect(await readdir(join(folder, 'packages'))).toEqual([]);
    });
  });

  it('two suites that share a package do not replace the files of each other', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'library-test-'));
    try {
      const libraries = ['webencodings', 'defusedxml'].map((name): WantedLibrary => ({
        interpreter: 'python3',
        packages: ['python3-six', `python3-${name}`],
        probe: `import ${name}; print("found")`,
      }));
      const found = await Promise.all(
        libraries.map((library) => findLibraries([library], { env: process.env, folder })),
      );
      for (const [index, [library]] of found.entries()) {
        if (!library || 'missing' in library) {
          process.stderr.write(`${libraries[index]!.probe} is skipped: ${library?.missing}\n`);
          expect(process.env['REQUIRE_LIBRARIES']).toBeUndefined();
          continue;
        }
        const { command, env } = library;
        const run = await runCommand(command, ['-c', libraries[index]!.probe], { cwd: folder, env });
        expect(run).toMatchObject({ code: 0, stdout: 'found\n' });
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe('the packaged Chromium', () => {
  it('renders text with the libraries and fonts of the package', async () => {
    const { path, env } = await packagedChromium(true);
    const browser = await chromium.launch({
      executablePath: path,
      env: { ...process.env, ...env },
      chromiumSandbox: false,
    });
    try {
      const page = await browser.newPage();
      await page.setContent('<span>Words</span>');
      expect(
        await page.locator('span').evaluate((span) => span.getBoundingClientRect().width),
      ).toBeGreaterThan(10);
    } finally {
      await browser.close();
    }
  });

  it('is launched even if another Chromium is installed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'chromium-'));
    const { PATH = '' } = process.env;
    await writeFile(join(folder, 'chromium'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    process.env['PATH'] = [folder, PATH].join(delimiter);
    try {
      const browser = await launchBrowser();
      await browser.close();
    } finally {
      process.env['PATH'] = PATH;
      await rm(folder, { recursive: true });
    }
  });
});
