export const EN = {
  'invitation.subject': 'You are invited to an application at {product}',
  'invitation.owner':
    '{inviter} invites you to manage the application “{application}” at {product}, as one of its owners. To accept, open this link and log in:',
  'invitation.tester':
    '{inviter} invites you to test the application “{application}” at {product} before it is approved. To accept, open this link and log in:',
  'invitation.note':
    'The link works once, until {date}. The person who invited you chose the names above. If you do not know this person, do not open the link. To report this message, reply to it.',
  'question.subject': 'A question about “{application}”',
  'question.text': 'The reviewer of “{application}” at {product} has a question. Answer it on this page:',
  'approved.subject': 'Your request for “{application}” is approved',
  'approved.text': 'Your request for the application “{application}” at {product} is approved:',
  'rejected.subject': 'Your request for “{application}” is rejected',
  'rejected.text':
    'Your request for the application “{application}” at {product} is rejected. This page has the reason:',
  'secret_expires.subject': 'A client secret of “{application}” expires on {date}',
  'secret_expires.text':
    'A client secret of the application “{application}” at {product} expires on {date}. Create a new secret on this page, and use it in the application before that day:',
  'secret_expired.subject': 'A client secret of “{application}” has expired',
  'secret_expired.text':
    'A client secret of the application “{application}” at {product} expired on {date}. Requests with this secret are refused. If the application still uses it, create a new one on this page:',
  'receiver_paused.subject': 'Events for “{application}” are paused',
  'receiver_paused.text':
    'The receiver of the application “{application}” has failed for a day, so {product} has paused its events or logout tokens. They wait for a week. Repair the receiver, then end the pause:',
  'owner.note': 'You get this message because you are an owner of this application.',
} as const;

export type MailMessageId = keyof typeof EN;
export type MailMessages = Readonly<Record<MailMessageId, string>>;
