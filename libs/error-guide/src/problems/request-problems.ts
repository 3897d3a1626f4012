import { quoted } from '#oauth/text.js';
import type { Problems } from '#platform/validation/problem.js';
import type { ProblemEntries } from './problem-entry.js';

const LIMITS: Readonly<Record<Problems['limit_reached']['of'], string>> = {
  requests: 'drafts and undecided requests',
  applications: 'applications in testing',
  testers: 'testers and invitations of testers of an application',
  invitations: 'open invitations',
  mails: 'invitations by mail in a day',
  mails_to_address: 'invitations by mail to one address in a day',
};

const STATUSES: Readonly<Record<Problems['request_not_open']['status'], string>> = {
  draft: 'is a draft',
  submitted: 'is submitted',
  question: 'waits for an answer',
  approved: 'is approved',
  rejected: 'is rejected',
  withdrawn: 'is withdrawn',
};

/** Problems of owners, testers and requests of applications. */
export const REQUEST_PROBLEMS = {
  limit_reached: ({ values: { of, max } }) => `the limit of ${max} ${LIMITS[of]} is reached`,
  last_owner: () => 'the last owner cannot leave: invite another owner first, or delete the application',
  member_unknown: ({ values: { clientId, userId } }) => `user ${userId} is not a member of ${clientId}`,
  client_invitation_unknown: () => 'the invitation was accepted, was withdrawn or has expired',
  client_not_in_testing: ({ values: { clientId } }) => `${clientId} is not in testing`,
  client_without_owners: ({ values: { clientId } }) =>
    `${clientId} cannot have owners: operators or owners log in by it, or it calls the HTTP API of the console`,
  request_unknown: {
    text: ({ values: { id } }) => `there is no request ${quoted(id)}`,
    next: () => ({ text: 'See', command: ['request', 'list'] }),
  },
  request_not_open: ({ values: { status } }) => `the request ${STATUSES[status]}`,
  request_outdated: {
    text: () => 'the request has changed since it was read: read it again',
    next: ({ id }) => ({ text: 'See', command: ['request', 'show', id] }),
  },
  request_undecided: ({ values: { clientId } }) => `another request of ${clientId} is not decided yet`,
  request_text_invalid: ({ field, values: { max } }) => `${field} must have 1 to ${max} characters of text`,
  request_too_large: ({ values: { max } }) =>
    `the request must have at most ${max} characters, with its logo`,
  reason_missing: ({ values: { scope } }) => `say why the application needs ${scope}`,
  reason_invalid: ({ values: { scope, max } }) =>
    `the reason for ${scope} must have 1 to ${max} characters of text`,
  scope_not_offered: ({ values: { scope } }) =>
    `the request cannot be approved, because the scope ${scope} is no longer offered: ask the owner to remove it, or reject the request`,
  application_fixed: () => 'the kind of application cannot change: request another application',
} satisfies Partial<ProblemEntries<keyof Problems>>;
