import { messagePage } from './message-page.js';

const HOW: Readonly<Record<string, string>> = {
  revoked: 'Scheduling has removed our access. Other connections are listed in your Scheduling account.',
  forgotten:
    'We have deleted our tokens. Calendar Connect remains listed in your Scheduling account until the access expires.',
  unsure:
    'We have deleted our tokens, but Scheduling did not confirm that our access is removed. You can remove it in your Scheduling account.',
};

/** The page after a disconnection; undefined for an unknown reason. */
export function disconnectedPage(how: string): string | undefined {
  const text = Object.hasOwn(HOW, how) ? HOW[how] : undefined;
  return text === undefined ? undefined : messagePage({ title: 'Your calendar is disconnected', text });
}
