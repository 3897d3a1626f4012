export const PROFILE = { status: 'success', data: { id: 1, username: 'bench', email: 'bench@example.com' } };

export function listening() {
  process.stdout.write('listening\n');
}
