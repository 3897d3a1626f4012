/** The operator must log in, and returns to a page afterwards. */
export class LoginRequiredError extends Error {
  /**
   * @param page path on this site, with its query
   * @param reason `again`: the login is too old for a dangerous step
   * @param setCookie header for the browser
   */
  constructor(
    readonly page: string,
    readonly reason: 'first' | 'again',
    readonly setCookie?: string,
  ) {
    super('login required');
    this.name = 'LoginRequiredError';
  }
}
