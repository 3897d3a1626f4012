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

/** @param path of the login, or of the page that continues to the login */
export function loginUrl(path: string, page: string, isAgain: boolean): string {
  const query = new URLSearchParams({ page, ...(isAgain && { again: '' }) });
  return `${path}?${query.toString()}`;
}
