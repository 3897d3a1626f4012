// Options of swc for jest and for processes that tests start from sources.
export const swcOptions = {
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', decorators: true },
    // Node needs `with { type: 'json' }`.
    experimental: { keepImportAttributes: true },
    transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: true },
  },
  module: { type: 'es6' },
};
