export type UniqueUserField = 'email' | 'username';

/** Another user has the same email or username; letter case makes no difference. */
export class DuplicateUserError extends Error {
  constructor(readonly fields: readonly UniqueUserField[]) {
    super(`another user has the same ${fields.join(' and the same ')}; choose another one`);
    this.name = 'DuplicateUserError';
  }
}
