import type { CheckOf, CodeFormCheck, DeviceReasons } from '#oauth/reasons.js';
import type { Descriptions } from './descriptions.js';
import type { CheckEntries } from './guide-entry.js';

/** Device authorization (RFC 8628): the endpoint, the polls and the page. */
export const DEVICE_CHECKS = {
  decision_pending: {
    title: 'The user has not decided yet',
    meaning: 'The device polls while its user reads the page. This is not a failure (RFC 8628 3.5).',
    application: 'Poll again after `interval` seconds, until `expires_in` has passed.',
    publishedAs: 'authorization_pending',
  },
  polled_too_early: {
    title: 'The device polls too often',
    meaning:
      'A poll came before the interval had passed. The interval is now 5 seconds longer (RFC 8628 3.5).',
    application: 'Add 5 seconds to the interval, for this and all later polls.',
    publishedAs: 'slow_down',
  },
  decision_denied: {
    title: 'The user denied the request of the device',
    meaning: 'The user clicked Cancel, or removed the access before the device polled.',
    application: 'Stop polling. Tell the user that nothing is connected, and offer to start again.',
    publishedAs: 'access_denied',
  },
  device_limit_exceeded: {
    title: 'Too many devices wait for their users',
    meaning:
      'The application, one address for a public client, or the whole service has more codes than it stores. A code expires after 15 minutes.',
    application: 'Wait as long as `Retry-After` says. Start when a user is there, not in advance.',
    platform: 'If every device has the same address, `TRUSTED_PROXIES` does not name the proxy.',
  },
  user_code_unknown: {
    title: 'The code of a device is wrong or has expired',
    meaning:
      'No device shows this code now. Each wrong code is counted, for the account and for its network.',
    user: 'Compare the code with the device. After 15 minutes the device shows a new one.',
    application: 'Show `verification_uri_complete` as a QR code or a link, so that nobody types the code.',
  },
  user_code_throttled: {
    title: 'Too many wrong codes',
    meaning:
      'This account has entered five wrong codes, or its network or all users together many more (RFC 8628 5.1). The counters expire after 15 minutes.',
    user: 'Wait as long as the page says.',
    platform: 'If all users are told to wait, `TRUSTED_PROXIES` does not name the proxy.',
  },
  device_answered: {
    title: 'The request of a device was answered before',
    meaning: 'It was allowed or denied in another tab or by another user, or its code has expired.',
    user: 'Start again at the device.',
  },
} as const satisfies CheckEntries<CheckOf<DeviceReasons> | CodeFormCheck>;

export const DEVICE_DESCRIPTIONS: Descriptions<DeviceReasons> = {
  decision_pending: 'the user has not decided yet: poll again after the interval',
  polled_too_early: 'the device polls too often: from now on, wait 5 seconds longer between two polls',
  decision_denied: 'the user has denied the request',
  device_limit_exceeded: ({ retryAfter }) =>
    `too many devices wait for their users; retry in ${retryAfter} s`,
  device_answered: 'this device has been answered before, or its code has expired',
};
