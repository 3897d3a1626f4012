// The arrows of ARCHITECTURE.md, held by `npm run lint`.
const only = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

module.exports = {
  forbidden: [
    only('no-cycles', 'a cycle means two files are one thing', {}, { circular: true }),
    only('unresolved', 'every import resolves', {}, { couldNotResolve: true }),
    only(
      'apps-stand-alone',
      'apps share code through libs, never with each other',
      { path: '^apps/([^/]+)/' },
      { path: '^apps/', pathNot: '^apps/$1/' },
    ),
    only('libs-below-apps', 'a library knows no app', { path: '^libs/' }, { path: '^(apps|dev)/' }),
    only(
      'grants-alone',
      'the grant engine stands on nothing of ours',
      { path: '^libs/grants/src' },
      { path: '^libs/(?!grants/)' },
    ),
    only(
      'introspection-alone',
      'any service can use the introspection library',
      { path: '^libs/introspection/src' },
      { path: '^libs/(?!introspection/)' },
    ),
    only(
      'testing-stays-out',
      'what ships never imports what tests',
      { path: '^(apps|libs)/[^/]+/src', pathNot: '^libs/testing/' },
      { path: '^(libs/testing|dev)/' },
    ),
    only(
      'only-stores-touch-redis',
      'ioredis belongs to stores and their module',
      {
        path: '^(apps|libs)/[^/]+/src',
        pathNot: '\\.store\\.ts$|^libs/(service/src/redis|testing)/',
      },
      { path: 'node_modules/ioredis' },
    ),
    only(
      'only-stores-touch-sql',
      'TypeORM belongs to the directory',
      {
        path: '^(apps|libs)/[^/]+/src',
        pathNot:
          '^libs/directory/src/.*(\\.store|\\.statement|\\.entity|\\.module|data-source|impatient-client|roaming-client|writable-server|migrations/.*|migrate)\\.ts$|^libs/testing/',
      },
      { path: 'node_modules/(typeorm|@nestjs/typeorm|pg)/' },
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^dist' },
    tsPreCompilationDeps: true,
    parser: 'swc',
    webpackConfig: { fileName: '.dependency-cruiser.resolve.cjs' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
      extensions: ['.ts', '.js'],
    },
  },
};
