import { described } from '#operations/member-names.js';
import type {
  ClientRequestEntity,
  ClientRequestMessageEntity,
} from '../../requests/client-request.entity.js';

/** `content` is the `RequestContent` of a registration; `ProposedChanges`, `purpose` and `reasons` of a change. */
export type RequestView = ReturnType<typeof requestView>;
export type MessageView = ReturnType<typeof messageView>;

export function requestView(request: ClientRequestEntity) {
  return described(request, [
    'id',
    'version',
    'kind',
    'status',
    'clientId',
    'createdAt',
    'submittedAt',
    'decidedAt',
    'content',
  ]);
}

export function messageView(message: ClientRequestMessageEntity) {
  return described(message, ['at', 'author', 'name', 'text']);
}
