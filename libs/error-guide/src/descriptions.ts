import { idOf } from '#oauth/oauth-error.js';
import type { Reason } from '#oauth/reasons.js';

/** Public descriptions of reasons, which say what is wrong and never what is secret. */
export type Descriptions<Ids extends object> = {
  readonly [Id in keyof Ids]: Ids[Id] extends null ? string : string | ((values: Ids[Id]) => string);
};

export function textOf<Ids extends object>(descriptions: Descriptions<Ids>, reason: Reason<Ids>): string {
  const text: unknown = descriptions[idOf<keyof Ids>(reason)];
  return typeof text === 'function' ? (text as (values: unknown) => string)(reason) : (text as string);
}
