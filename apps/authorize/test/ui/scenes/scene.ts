import type { Page } from 'playwright-core';
import type { Locale } from '#oauth/locale.js';
import type { User } from '#users/user.js';
import type { SceneFixture } from './scene-fixture.js';

export interface Scene {
  readonly name: string;
  readonly visitor: (fixture: SceneFixture) => User | null;
  /** Opens the page with user actions that do not depend on the language. */
  readonly open: (page: Page, fixture: SceneFixture, locale: Locale) => Promise<unknown>;
}
