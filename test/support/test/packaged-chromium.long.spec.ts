import { chromium } from 'playwright-core';
import { packagedChromium } from '../chromium.js';

it('the packaged Chromium renders text with the libraries and fonts of the package', async () => {
  const { path, env } = await packagedChromium(true);
  const browser = await chromium.launch({
    executablePath: path,
    env: { ...process.env, ...env },
    chromiumSandbox: false,
  });
  try {
    const page = await browser.newPage();
    await page.setContent('<span>Words</span>');
    expect(await page.locator('span').evaluate((span) => span.getBoundingClientRect().width)).toBeGreaterThan(
      10,
    );
  } finally {
    await browser.close();
  }
});
