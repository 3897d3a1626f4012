export class LoginRequiredError extends Error {
  /**
   * @param page URL to open after the login
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

export function loginUrl(page: string, isAgain: boolean): string {
  const query = new URLSearchParams({ page, ...(isAgain && { again: '' }) });
  return `/login?${query.toString()}`;
}
