import type { Page } from 'playwright-core';
import type { Locale } from '#oauth/locale.js';
import type { User } from '#database/user/user.js';
import type { World } from './world.js';

/** One page in one state. */
export interface Scene {
  readonly name: string;
  /** Who is logged in. */
  readonly visitor: (world: World) => User | null;
  /** Brings the page there by what a person does; knows no language. */
  readonly open: (page: Page, world: World, locale: Locale) => Promise<unknown>;
}
