import { parseLogoutDelivery, parseSessionsEnded } from '#messaging/logout/logout-queue.js';
import { MalformedMessageError } from '#messaging/nats-message.js';

const ended = { id: 'one', session: 's'.repeat(43), at: 1 };
const ofUser = { id: 'one', user_id: 7, at: 1 };
const delivery = { ...ended, client_id: 'sc_a', user_id: 7 };

it('messages of the log-out queue may contain fields of later versions', () => {
  expect(parseSessionsEnded({ ...ended, later: 1 })).toMatchObject(ended);
  expect(parseSessionsEnded(ofUser)).toMatchObject(ofUser);
  expect(parseLogoutDelivery({ ...delivery, later: 1 })).toMatchObject(delivery);
});

describe('a message that PostgreSQL could not look up', () => {
  it.each([
    { ...ofUser, user_id: 2 ** 31 },
    { ...ofUser, user_id: 1e300 },
    { ...ended, session: 'a\u0000b' },
    { ...ended, session: '' },
    { ...ended, session: null },
    { ...ended, id: '\n' },
    { ...ended, at: 1e300 },
  ])('is rejected, so that it is not retried: the end of sessions %j', (message) => {
    expect(() => parseSessionsEnded(message)).toThrow(MalformedMessageError);
  });

  it.each([
    { ...delivery, user_id: 2 ** 31 },
    { ...delivery, client_id: 'a\u0000b' },
    { ...delivery, session: 'a\u0000b' },
    { ...delivery, at: -1e300 },
  ])('is rejected, so that it is not retried: the delivery %j', (message) => {
    expect(() => parseLogoutDelivery(message)).toThrow(MalformedMessageError);
  });
});
