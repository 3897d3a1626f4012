import { PassThrough } from 'node:stream';
import type { WriteStream } from 'node:tty';
import { type Progress, progressOn } from '../servers/progress.js';

describe('progress', () => {
  let now = 0;

  function written(isTTY: boolean, report: (progress: Progress) => void): string {
    const stream = new PassThrough({ encoding: 'utf8' });
    report(progressOn(Object.assign(stream, { isTTY }) as unknown as WriteStream, () => now));
    return String(stream.read());
  }

  it('overwrites one line on a terminal', () => {
    const text = written(true, (progress) => {
      progress('downloading');
      progress('1 of 3 MB', true);
      progress('2 of 3 MB', true);
      progress('unpacking');
    });
    const over = '\u001b[1G\u001b[2K';
    expect(text).toBe(`downloading\n1 of 3 MB${over}2 of 3 MB${over}unpacking\n`);
  });

  it('writes a line every five seconds elsewhere', () => {
    const text = written(false, (progress) => {
      progress('downloading');
      for (now = 0; now <= 11_000; now += 1_000) progress(`${now} of 12000`, true);
      progress('unpacking');
    });
    expect(text).toBe('downloading\n5000 of 12000\n10000 of 12000\nunpacking\n');
  });
});
