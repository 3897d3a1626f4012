/** Thrown, before anything is written, if the stored version is not the expected version. */
export class OutdatedVersionError extends Error {
  constructor() {
    super('the stored version is not the expected one');
    this.name = 'OutdatedVersionError';
  }
}

/** @param expected undefined accepts every version */
export function checkVersion({ version }: { readonly version: number }, expected: number | undefined): void {
  if (expected !== undefined && version !== expected) throw new OutdatedVersionError();
}
