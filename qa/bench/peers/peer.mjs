// What the peers share.

/** What every resource route answers. */
export const PROFILE = { status: 'success', data: { id: 1, username: 'bench', email: 'bench@example.com' } };

/** Tells the bench that the peer listens. */
export function listening() {
  process.stdout.write('listening\n');
}
