import { readFileSync } from 'node:fs';

const textOf = (file: string): string => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

/** The compiler and the linters read tsconfig.json, and Node reads package.json. */
it('tsconfig.json and package.json list the same libraries', () => {
  const { imports } = JSON.parse(textOf('package.json')) as { imports: Record<string, string> };
  const paths = [...textOf('tsconfig.json').matchAll(/"(#[^"]+)": \["([^"]+)"\]/g)];
  const sources = Object.entries(imports).map(([name, built]) => [
    name,
    built.replace('./dist/', './').replace(/\.js$/, '.ts'),
  ]);
  expect(paths.map(([, name, source]) => [name, source])).toEqual(sources);
});
