/** The user took the consent back while a request was answered by it; read again, the request has to be asked. */
export class ConsentEndedError extends Error {
  constructor() {
    super('the consent that the request was to be answered by has ended');
    this.name = 'ConsentEndedError';
  }
}
