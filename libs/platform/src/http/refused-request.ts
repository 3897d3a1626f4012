interface Options {
  readonly headers?: Readonly<Record<string, string>>;
  /** Logged, never sent to the client. */
  readonly detail?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** Refusal of a request, rendered by the app's exception filter. */
export class RefusedRequestError extends Error {
  readonly headers: Readonly<Record<string, string>>;
  readonly detail: Readonly<Record<string, unknown>>;

  /** @param description text for the client, which must not quote the request */
  constructor(
    readonly status: 400 | 403 | 405 | 406 | 409 | 412 | 415 | 422 | 428 | 429 | 502 | 503,
    readonly description: string,
    { headers = {}, detail = {}, cause }: Options = {},
  ) {
    super(description, { cause });
    this.name = 'RefusedRequestError';
    this.headers = headers;
    this.detail = detail;
  }
}
