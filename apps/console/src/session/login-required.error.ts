/** The operator must log in, and returns to a page afterwards. */
export class LoginRequiredError extends Error {
  /**
   * @param page path on this site, with its query
   * @param reason `again`: the login is too old for a dangerous step
   */
  constructor(
    readonly page: string,
    readonly reason: 'first' | 'again',
  ) {
    super('login required');
    this.name = 'LoginRequiredError';
  }
}
