/** Subjects of operators' requests. One authorize process replies in JSON. A failed request gets no reply. */
export const OPERATOR_SUBJECTS = {
  userSessions: 'oauth.user.sessions',
  consentPreview: 'oauth.consent.preview',
} as const;

export interface UserSessionsRequest {
  readonly user_id: number;
}

/** Session with times in ISO 8601. No field identifies the session. */
export interface UserSession {
  readonly started_at: string;
  readonly last_used_at: string;
  /** True if the user logged in at the login provider, not with a password here. */
  readonly at_provider: boolean;
}

export interface UserSessionsReply {
  readonly sessions: readonly UserSession[];
}

export interface ConsentPreviewRequest {
  readonly client_id: string;
  readonly locale: string;
}

/** The page is null for an unknown client, a client of the HTTP API, or an unsupported locale. */
export interface ConsentPreviewReply {
  readonly page: {
    /** Refers to the logo of the application by its path. */
    readonly document: string;
    /** Source of the style, for the Content-Security-Policy. */
    readonly style: string;
  } | null;
}
