import { importantLines } from '../supervisor/app-log.js';

const line = (level: number, msg: string): string => `${JSON.stringify({ level, msg })}\n`;

describe('the log output of npm start', () => {
  let shown: string[];
  let time: number;
  let take: (text: string) => void;

  beforeEach(() => {
    shown = [];
    time = 0;
    take = importantLines(
      'token',
      (text) => shown.push(text),
      () => time,
    );
  });

  it('contains warnings, errors and lines that are not JSON, even if lines arrive in parts', () => {
    const text = `${line(30, 'answered')}${line(40, 'Redis is slow')}a stack\n${line(50, 'broken')}`;
    for (const piece of text.match(/.{1,7}/gs) ?? []) take(piece);
    expect(shown).toEqual(['token: warning: Redis is slow', 'token: a stack', 'token: error: broken']);
  });

  it('contains a repeated line at most once in 30 s', () => {
    for (time = 0; time <= 30_000; time += 1_000) take(line(40, 'Redis: refused'));
    expect(shown).toEqual(['token: warning: Redis: refused', 'token: warning: Redis: refused']);
  });

  it('contains a line again after a different line', () => {
    for (const msg of ['gone', 'back', 'gone']) take(line(40, msg));
    expect(shown).toEqual(['token: warning: gone', 'token: warning: back', 'token: warning: gone']);
  });
});
