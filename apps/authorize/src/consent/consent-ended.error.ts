/**
 * The consent ended while the request was being answered: the user revoked it, or the user or the application is gone.
 * Reloading the request shows the reason.
 */
export class ConsentEndedError extends Error {
  constructor() {
    super('the consent that the request was to be answered by has ended');
    this.name = 'ConsentEndedError';
  }
}
