import { messagePage } from './message-page.js';

const HOW: Readonly<Record<string, string>> = {
  revoked:
    'We gave this permission back, and the calendar service has revoked it. If you connected more than once, your account there lists the others.',
  forgotten:
    'We have forgotten our tokens. This calendar service cannot revoke a permission yet, so yours stays listed there until it expires.',
  unsure:
    'We have forgotten our tokens, but the calendar service did not confirm that the permission is revoked. It ends by itself when it expires.',
};

/** The page after a disconnection; undefined for an unknown reason. */
export function disconnectedPage(how: string): string | undefined {
  const text = Object.hasOwn(HOW, how) ? HOW[how] : undefined;
  return text === undefined ? undefined : messagePage({ title: 'Your calendar is disconnected', text });
}
