import { readdirSync, readFileSync } from 'node:fs';

const MAX_FILES = 10;

describe('a yes-or-no field of a client', () => {
  it(`is named in at most ${MAX_FILES} source files, with its rules in the protocol`, () => {
    const files = ['apps', 'libs'].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((file) => /^[\w-]+\/src\/.*\.ts$/.test(file))
        .map((file) => `${folder}/${file}`)
        .filter((file) => /requireState|require_state/.test(readFileSync(file, 'utf8'))),
    );
    expect(files).toContain('libs/clients/src/client-flags.ts');
    expect(files.toSorted().slice(MAX_FILES)).toEqual([]);
  });
});
