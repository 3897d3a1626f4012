import { type MissingLibrary, reportSkipped } from '../foreign-library.js';
import { started } from '../fixture.js';

type Declared = readonly [name: string, run: () => unknown];

/** Returns the tests that `reportSkipped` declares, and those that it skips. */
function declared(library: MissingLibrary, required: string | undefined) {
  const [tests, skipped]: [Declared[], Declared[]] = [[], []];
  const { it: own } = globalThis;
  const environment = { ...process.env };
  globalThis.it = Object.assign((...test: Declared) => tests.push(test), {
    skip: (...test: Declared) => skipped.push(test),
  }) as unknown as typeof own;
  process.env['REQUIRE_LIBRARIES'] = required ?? '';
  try {
    reportSkipped('Authlib', library);
  } finally {
    globalThis.it = own;
    process.env = environment;
  }
  return { tests, skipped };
}

describe('a library that the machine lacks', () => {
  const library = { missing: 'install python3-authlib' };

  it('is skipped by its name and with the reason', () => {
    const { tests, skipped } = declared(library, undefined);
    expect(tests).toEqual([]);
    expect(skipped.map(([name]) => name)).toEqual(['Authlib is skipped: install python3-authlib']);
  });

  it('fails if libraries are required', () => {
    const { tests, skipped } = declared(library, '1');
    expect(skipped).toEqual([]);
    expect(tests[0]?.[1]).toThrow(library.missing);
  });

  it('is skipped even then if neither npm nor Debian has it', () => {
    const { tests, skipped } = declared({ ...library, isOptional: true }, '1');
    expect([tests.length, skipped.length]).toEqual([0, 1]);
  });
});

describe('an object that a hook fills', () => {
  it('throws if a field is read before the hook', () => {
    const app = started() as { url: string };
    expect(() => app.url).toThrow(/has not started/);
    expect(() => ({ ...app })).toThrow(/has not started/);
    Object.assign(app, { url: 'http://localhost' });
    expect({ ...app }).toEqual({ url: app.url });
  });
});
