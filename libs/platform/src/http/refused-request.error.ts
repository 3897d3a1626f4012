interface Options {
  /** Answer headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** For the operator's log only. */
  readonly detail?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** A request that the platform refuses before it reaches a controller. An app's filter gives the answer its shape. */
export class RefusedRequestError extends Error {
  readonly headers: Readonly<Record<string, string>>;
  readonly detail: Readonly<Record<string, unknown>>;

  /** @param description goes to the client; it never quotes the request */
  constructor(
    readonly status: 400 | 405 | 415 | 503,
    readonly description: string,
    { headers = {}, detail = {}, cause }: Options = {},
  ) {
    super(description, { cause });
    this.name = 'RefusedRequestError';
    this.headers = headers;
    this.detail = detail;
  }
}
