export class LoginRequiredError extends Error {
  /** @param reason `again`: the login is too old for a dangerous step */
  constructor(
    readonly page: string,
    readonly reason: 'first' | 'again',
    readonly setCookie?: string,
  ) {
    super('login required');
    this.name = 'LoginRequiredError';
  }
}
