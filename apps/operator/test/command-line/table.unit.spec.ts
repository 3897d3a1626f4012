import stringWidth from 'string-width';
import { tableLines } from '../../src/command-line/table.js';

const ID = 'sc_abcdefghijklmnopqrstuvwx';
const HEADING = ['client_id', 'created_at', 'name', 'scope'];
const ROWS = [
  [ID, '2026-11-22', 'Calendar Connect for Teams', 'profile:read bookings:read'],
  [ID, '2026-11-22', 'A', 'profile:read'],
];

describe('a table', () => {
  it.each([
    ['needed_until', '2026-11-22 19:00Z'],
    ['first', '2026-11-22T19:00:00.000Z'],
    ['last', '18:43:58.871'],
  ])('never shortens a time, whatever the name of its column: %s', (name, time) => {
    const rows = [[time, 'Calendar Connect for Teams']];
    for (const columns of [22, 28, 36, 42])
      expect(tableLines([name, 'name'], rows, columns).join('\n')).toContain(time);
  });

  it('wraps values next to their names if each row is a block of lines', () => {
    const lines = tableLines(
      ['client_id', 'name'],
      [[ID, 'Calendar Connect for Teams and their assistants']],
      36,
    );
    expect(lines.join('\n').split('\n')).toEqual([
      `client_id  ${ID}`,
      'name       Calendar Connect for',
      '           Teams and their',
      '           assistants',
    ]);
  });

  it('gives each column the width of its longest cell if the output is not a terminal', () => {
    expect(tableLines(HEADING, ROWS, Infinity)).toEqual([
      'client_id                    created_at  name                        scope',
      `${ID}  2026-11-22  Calendar Connect for Teams  profile:read bookings:read`,
      `${ID}  2026-11-22  A                           profile:read`,
    ]);
  });

  it('fits the terminal by shortening the widest text, but never an id or a date', () => {
    for (const columns of [65, 72, 80, 90]) {
      const lines = tableLines(HEADING, ROWS, columns);
      expect(lines.filter((line) => stringWidth(line) > columns)).toEqual([]);
      expect(lines[1]).toContain(`${ID}  2026-11-22  Cal`);
      expect(lines[1]).toContain('…');
    }
  });

  it('prints a block of lines per row if ids and dates alone are too wide', () => {
    const lines = tableLines(HEADING, ROWS, 50);
    expect(lines).toEqual([
      `client_id   ${ID}`,
      'created_at  2026-11-22',
      'name        Calendar Connect for Teams',
      'scope       profile:read bookings:read',
      '',
      `client_id   ${ID}`,
      'created_at  2026-11-22',
      'name        A',
      'scope       profile:read',
    ]);
  });

  it('omits empty cells in a block', () => {
    expect(tableLines(['client_id', 'user_id', 'name'], [[ID, '', 'A']], 20)).toEqual([
      `client_id  ${ID}`,
      'name       A',
    ]);
  });

  it('measures wide characters, combining marks and emoji as a terminal shows them', () => {
    const rows = [
      ['予定表', '1'],
      ['Zu\u0308rich', '2'],
      ['👩‍👩‍👧', '3'],
      ['plain', '4'],
    ];
    const lines = tableLines(['name', 'n'], rows, Infinity);
    expect(new Set(lines.map((line) => stringWidth(line)))).toEqual(new Set([9]));
  });

  it('never splits a character', () => {
    const [, line = ''] = tableLines(['name', 'id'], [['予定表予定表予定表予定表', '1']], 18);
    expect(line).toBe('予定表予定表…   1');
  });

  it('ignores styles in the width of a cell', () => {
    const rows = [
      [{ text: 'live', style: 'green' as const }, '1'],
      ['revoked', '2'],
    ];
    expect(tableLines(['state', 'id'], rows, 80)).toEqual(['state    id', 'live     1', 'revoked  2']);
  });
});
