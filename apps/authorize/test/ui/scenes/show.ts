import type { Page } from 'playwright-core';
import { contentSecurityPolicy } from '../../../src/ui/page-headers.js';
import { documentOf, type Page as Content } from '../../../src/ui/page.responder.js';
import type { AuthorizeApp } from '../../support/authorize-app.js';

/**
 * Opens a page that only a fault would lead to, as the app would send it. In a tab that shows one already it takes its
 * place, so that what was loaded for looking at it is loaded once.
 */
export async function show(page: Page, { url, brand }: AuthorizeApp, content: Content): Promise<void> {
  const address = `${url}/auth/shown`;
  const body = documentOf(content, brand);
  if (page.url() === address) return page.setContent(body);
  await page.route(address, (route) =>
    route.fulfill({
      headers: { 'Content-Security-Policy': contentSecurityPolicy(content, brand.styleSource) },
      contentType: 'text/html; charset=utf-8',
      body,
    }),
  );
  await page.goto(address);
  await page.unroute(address);
}
