import type { Problems } from '#platform/validation/problem.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    migration_refused:
      /** Another schema than the default schema contains the tables of this service. */
      | { readonly reason: 'installed_elsewhere'; readonly schema: string }
      | { readonly reason: 'foreign_tables'; readonly schema: string; readonly tables: readonly string[] }
      /** The role of the migration may not create the roles of the processes. */
      | { readonly reason: 'roles_missing'; readonly statements: readonly string[] };
  }
}

export class MigrationRefusedError extends Error {
  constructor(readonly obstacle: Problems['migration_refused']) {
    super(`the migration is refused: ${obstacle.reason}`);
    this.name = 'MigrationRefusedError';
  }
}
