/**
 * What a request was to be answered by ended while it was: the user took the consent back, or the user or the application
 * is not there any more. Read again, the request tells.
 */
export class ConsentEndedError extends Error {
  constructor() {
    super('the consent that the request was to be answered by has ended');
    this.name = 'ConsentEndedError';
  }
}
