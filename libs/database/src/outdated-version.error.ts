/** Thrown, without a change, if the stored version is not the expected one because another change came first. */
export class OutdatedVersionError extends Error {
  constructor() {
    super('the stored version is not the expected one');
    this.name = 'OutdatedVersionError';
  }
}

/** @param expected undefined to accept every version */
export function checkVersion({ version }: { readonly version: number }, expected: number | undefined): void {
  if (expected !== undefined && version !== expected) throw new OutdatedVersionError();
}
