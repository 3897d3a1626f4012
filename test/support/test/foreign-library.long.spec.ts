import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findLibraries, type WantedLibrary } from '../foreign-library.js';

describe('an unavailable library of another language', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'library-test-'));
  });

  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('is reported in one line with its packages and the cause', async () => {
    const libraries: WantedLibrary[] = [
      { interpreter: 'python3', packages: ['python3-nothing', 'python3-more'], probe: 'import nothing' },
      { interpreter: 'ruby', packages: ['ruby-nothing'], probe: 'require "nothing"' },
    ];
    expect(await findLibraries(libraries, { env: { PATH: '/nowhere' }, folder })).toEqual([
      {
        missing:
          'install python3-nothing and python3-more, as Debian calls them (apt-get is not installed: only Debian and Ubuntu have it)',
      },
      {
        missing:
          'install ruby-nothing, as Debian calls them (apt-get is not installed: only Debian and Ubuntu have it)',
      },
    ]);
    expect(await readdir(join(folder, 'packages'))).toEqual([]);
  });
});
