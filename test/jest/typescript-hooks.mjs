// Module hooks for Node that resolve `#<lib>/x.js`, `#local/x.js`, `#test/x.js` and `./x.js` to TypeScript sources, and
// compile them.
import { access, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { transform } from '@swc/core';

const swcOptions = {
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', decorators: true },
    // Keeps `with { type: 'json' }`, which Node requires.
    experimental: { keepImportAttributes: true },
    transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: true },
  },
  module: { type: 'es6' },
};

const root = new URL('../../', import.meta.url).href;

export async function resolve(specifier, context, next) {
  if (specifier === '@jest/globals') return next(new URL('jest-globals.mjs', import.meta.url).href, context);
  const own = /^#([\w-]+)\/(.*)\.js$/.exec(specifier);
  if (own) {
    const [, name, path] = own;
    const folder = name === 'local' || name === 'test' ? name : `libs/${name}/src`;
    return next(`${root}${folder}/${path}.ts`, context);
  }
  if (/^\.{1,2}\/.*\.js$/.test(specifier) && context.parentURL?.endsWith('.ts')) {
    const source = new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL);
    if (await exists(source)) return next(source.href, context);
  }
  return next(specifier, context);
}

export async function load(url, context, next) {
  if (!url.endsWith('.ts') || url.includes('/node_modules/')) return next(url, context);
  const filename = fileURLToPath(url);
  const { code } = await transform(await readFile(filename, 'utf8'), {
    ...swcOptions,
    filename,
    sourceMaps: 'inline',
    swcrc: false,
  });
  return { format: 'module', source: code, shortCircuit: true };
}

function exists(url) {
  return access(url).then(
    () => true,
    () => false,
  );
}
