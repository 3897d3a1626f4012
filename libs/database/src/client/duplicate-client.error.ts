/** A client with this identifier is registered already. */
export class DuplicateClientError extends Error {
  constructor(readonly clientId: string) {
    super(`a client with the id ${clientId} is already registered; choose another one`);
    this.name = 'DuplicateClientError';
  }
}
