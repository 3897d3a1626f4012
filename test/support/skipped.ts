import type { MissingLibrary } from './foreign-library.js';

/**
 * Declares a test for what is missing, which is skipped and whose name says why. With REQUIRE_LIBRARIES, which
 * `.ci/run` sets, the test fails instead, unless the library is optional.
 */
export function reportSkipped(subject: string, { missing, isOptional = false }: MissingLibrary): void {
  const name = `${subject} is skipped: ${missing}`;
  // Jest prints the names of skipped tests only with --verbose.
  process.stderr.write(`${name}\n`);
  if (isOptional || !process.env['REQUIRE_LIBRARIES']) it.skip(name, () => undefined);
  else
    it(name, () => {
      throw new Error(missing);
    });
}
