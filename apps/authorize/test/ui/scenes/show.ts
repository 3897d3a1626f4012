import { contentSecurityPolicy } from '#ui/html.js';
import type { Page } from 'playwright-core';
import { documentOf, type UserPage } from '../../../src/ui/user-page.responder.js';
import type { AuthorizeApp } from '../../support/start-authorize-app.js';

/** Shows a page that the test rendered. Scripts that were injected into the tab stay. */
export async function show(page: Page, { url, brand }: AuthorizeApp, content: UserPage): Promise<void> {
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
