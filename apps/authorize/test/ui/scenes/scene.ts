import type { Page } from 'playwright-core';
import type { Locale } from '#oauth/locale.js';
import type { User } from '#database/user/user.js';
import type { World } from './world.js';

/** Page in a certain state. */
export interface Scene {
  readonly name: string;
  /** Logged-in user, or null. */
  readonly visitor: (world: World) => User | null;
  /** Reaches the state by user actions that do not depend on the language. */
  readonly open: (page: Page, world: World, locale: Locale) => Promise<unknown>;
}
