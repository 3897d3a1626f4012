import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright-core';
import { launchBrowser, packagedChromium } from '../chromium.js';

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
