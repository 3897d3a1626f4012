import { readFile } from 'node:fs/promises';
import { CATALOGUE } from '../../src/doctor/catalogue.js';

describe('docs/doctor.md', () => {
  it('lists every check with its severity, its rule and its sections', async () => {
    const text = await readFile('docs/doctor.md', 'utf8');
    const rows = [...text.matchAll(/^\| `([\w-]+)` \| (\w+) \| (.*?) \| (.*?) \|$/gm)].map((row) =>
      row.slice(1),
    );
    const checks = Object.entries(CATALOGUE).map(([id, { severity, holds, standards }]) => [
      id,
      severity,
      holds,
      standards.join(', ') || '–',
    ]);
    const inOrder = (all: string[][]) => all.map((row) => row.join(' | ')).sort();
    expect(inOrder(rows)).toEqual(inOrder(checks));
  });
});
