// The layers of ARCHITECTURE.md, checked by `npm run lint`.
const only = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

module.exports = {
  forbidden: [
    only('no-cycles', 'a cycle means two files are one thing', {}, { circular: true }),
    only('unresolved', 'every import of a source resolves', {}, { couldNotResolve: true, pathNot: '/dist/' }),
    only(
      'apps-stand-alone',
      'apps share code through libs, never with each other',
      { path: '^apps/([^/]+)/' },
      { path: '^apps/', pathNot: '^apps/$1/' },
    ),
    only('libs-below-apps', 'a library knows no app', { path: '^libs/' }, { path: '^(apps|dev)/' }),
    only(
      'packages-are-declared',
      'a package that is imported stands in package.json',
      { path: '^(apps|libs|dev|bench|k8s)/' },
      { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    ),
    only(
      'ships-without-dev-dependencies',
      'images install production dependencies only',
      { path: '^(apps|libs)/[^/]+/src', pathNot: '^libs/testing/' },
      { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    ),
    // Layers, from the bottom: oauth and platform; database and introspection; grants; apps.
    only(
      'oauth-alone',
      'the rules of the protocol are pure functions',
      { path: '^libs/oauth/src' },
      { path: '^libs/(?!oauth/)|node_modules/(ioredis|typeorm|pg|@nats-io)/' },
    ),
    only(
      'platform-alone',
      'what every process shares knows no domain',
      { path: '^libs/platform/src' },
      { path: '^libs/(?!platform/)' },
    ),
    only(
      'introspection-above-oauth-and-platform',
      'an API can use the introspection library without the rest',
      { path: '^libs/introspection/src' },
      { path: '^libs/(?!introspection/|oauth/|platform/)' },
    ),
    only(
      'openapi-above-oauth',
      'descriptions of endpoints know the protocol',
      { path: '^libs/openapi/src' },
      { path: '^libs/(?!openapi/|oauth/)' },
    ),
    only(
      'database-above-oauth-and-platform',
      'stores know the protocol and their connection',
      { path: '^libs/database/src' },
      { path: '^libs/(?!database/|oauth/|platform/)' },
    ),
    only(
      'grants-above-database',
      'of the NATS library, grants know the contract only',
      { path: '^libs/grants/src' },
      { path: '^libs/(?!grants/|oauth/|platform/|database/|introspection/src/contract)' },
    ),
    only(
      'audit-above-oauth-and-platform',
      'of the NATS library, the audit trail knows the contract only',
      { path: '^libs/audit/src' },
      { path: '^libs/(?!audit/|oauth/|platform/|introspection/src/contract)' },
    ),
    only(
      'ui-knows-no-feature',
      'pages are drawn from what a feature hands over',
      { path: '^apps/authorize/src/ui/' },
      { path: '^apps/authorize/src/(?!ui/)' },
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
        pathNot: '\\.store\\.ts$|^libs/(platform/src/redis|testing)/',
      },
      { path: 'node_modules/ioredis' },
    ),
    only(
      'only-stores-touch-sql',
      'TypeORM belongs to the database library',
      {
        path: '^(apps|libs)/[^/]+/src',
        pathNot:
          '^libs/database/src/.*(\\.store|\\.statements|\\.entity|\\.module|connection/.*|migrations/.*)\\.ts$|^libs/testing/',
      },
      { path: 'node_modules/(typeorm|@nestjs/typeorm|pg)/' },
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|bench/peers|dev/test/recipes/drivers|libs/introspection/dist)' },
    tsPreCompilationDeps: true,
    // libs/introspection has a package.json of its own, without what is bundled into it.
    combinedDependencies: true,
    parser: 'swc',
    webpackConfig: { fileName: '.dependency-cruiser.resolve.cjs' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
      extensions: ['.ts', '.js'],
    },
  },
};
