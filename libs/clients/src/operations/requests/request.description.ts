import type {
  ClientRequestEntity,
  ClientRequestMessageEntity,
  RequestKind,
  RequestStatus,
} from '../../requests/client-request.entity.js';

export interface RequestView {
  readonly id: string;
  readonly version: number;
  readonly kind: RequestKind;
  readonly status: RequestStatus;
  /** Null for a registration that was not submitted yet. */
  readonly client_id: string | null;
  readonly created_at: string;
  readonly submitted_at: string | null;
  readonly decided_at: string | null;
  /** `RequestContent` of a registration; `ProposedChanges`, `purpose` and `reasons` of a change. */
  readonly content: object;
}

export interface MessageView {
  readonly at: string;
  readonly author: 'owner' | 'operator';
  readonly name: string;
  readonly text: string;
}

export function requestView(request: ClientRequestEntity): RequestView {
  return {
    id: request.id,
    version: request.version,
    kind: request.kind,
    status: request.status,
    client_id: request.clientId,
    created_at: request.createdAt.toISOString(),
    submitted_at: request.submittedAt?.toISOString() ?? null,
    decided_at: request.decidedAt?.toISOString() ?? null,
    content: request.content,
  };
}

export function messageView({ at, author, name, text }: ClientRequestMessageEntity): MessageView {
  return { at: at.toISOString(), author, name, text };
}
