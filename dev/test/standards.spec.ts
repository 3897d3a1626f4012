import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const RFCS = [6749, 6750, 7009, 7636, 7662, 8252, 8414, 8707, 9126, 9207, 9449, 9700, 9728];

const page = readFileSync(join(ROOT, 'docs/standards.md'), 'utf8');
const reliability = readFileSync(join(ROOT, 'docs/reliability.md'), 'utf8');
const [, ...sections] = page.split(/^## /m);

/** Cells of a section's table, without its head. */
const rowsOf = (section: string): string[][] =>
  section
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );

const referencesIn = (text: string): [file: string, test: string][] =>
  [...text.matchAll(/`([^`]+)` › `([^`]+)`/g)].map(([, file = '', test = '']) => [file, test]);

const deviationsIn = (text: string): string[] =>
  [...text.matchAll(/\*\*(D\d+)\*\*/g)].map(([, name = '']) => name);

const standards = sections.filter((section) => section.startsWith('RFC '));
const deviations = rowsOf(sections.find((section) => section.startsWith('Deviations')) ?? '');

describe('docs/standards.md', () => {
  it('has rules of every standard', () => {
    expect(standards.map((section) => Number(/^RFC (\d+): /.exec(section)?.[1]))).toEqual(RFCS);
    for (const section of standards) expect(rowsOf(section).length).toBeGreaterThan(0);
  });

  it('says of every rule which test holds it, or how we deviate', () => {
    for (const [place, rule, heldBy = '', ...more] of standards.flatMap(rowsOf)) {
      expect([place, rule, more]).toEqual([expect.stringMatching(/\d/), expect.stringMatching(/\w/), []]);
      const held = referencesIn(heldBy).length + deviationsIn(heldBy).length;
      // Each line of the cell is one or the other: nothing stands there that nobody checks.
      expect([rule, held]).toEqual([rule, heldBy.split('<br>').length]);
    }
  });

  it.each([...referencesIn(page), ...referencesIn(reliability)])('%s has %j', (file, test) => {
    expect(existsSync(join(ROOT, file))).toBe(true);
    const source = readFileSync(join(ROOT, file), 'utf8');
    // A test's name begins a literal; words of a comment or of another name do not count.
    const names = ["'", '"', '`'].map((quote) => quote + test);
    expect(file.endsWith('.ts') ? names.some((name) => source.includes(name)) : source.includes(test)).toBe(
      true,
    );
  });

  it('explains every deviation that a rule names, and no other', () => {
    const named = new Set(standards.flatMap(deviationsIn));
    expect(deviations.map(([name]) => name)).toEqual([...deviations.keys()].map((at) => `D${at + 1}`));
    expect(new Set(deviations.map(([name]) => name))).toEqual(named);
    for (const [, instead = '', why = ''] of deviations) expect([instead, why]).not.toContain('');
  });
});
