import type { Brand } from '#ui/brand/brand.js';

export abstract class UiOptions {
  abstract readonly brand: Brand;
  abstract readonly secure: boolean;
}
