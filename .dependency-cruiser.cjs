// The layers of ARCHITECTURE.md, checked by `npm run lint`.
const only = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

module.exports = {
  forbidden: [
    only('no-cycles', 'files that import each other are one unit', {}, { circular: true }),
    only('unresolved', 'every import of a source resolves', {}, { couldNotResolve: true, pathNot: '/dist/' }),
    only(
      'apps-stand-alone',
      'apps share code through libs and never import each other',
      { path: '^apps/([^/]+)/' },
      { path: '^apps/', pathNot: '^apps/$1/' },
    ),
    only('libs-below-apps', 'a library never imports an app', { path: '^libs/' }, { path: '^apps/' }),
    only(
      'packages-are-declared',
      'every imported package is listed in package.json',
      { path: '^(apps|libs|local|test|qa|k8s)/' },
      { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    ),
    only(
      'ships-without-dev-dependencies',
      'images install production dependencies only',
      { path: '^(apps|libs)/[^/]+/src' },
      { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    ),
    // Layers, from the bottom: oauth and platform; messaging, database, openapi and ui; introspection, audit and
    // grants; clients; administration; apps.
    only(
      'oauth-alone',
      'the rules of the protocol are pure functions',
      { path: '^libs/oauth/src' },
      { path: '^libs/(?!oauth/)|node_modules/(@nestjs|typeorm|pg|ioredis|@nats-io|fastify)/' },
    ),
    only(
      'platform-alone',
      'code that every process shares imports no domain code',
      { path: '^libs/platform/src' },
      { path: '^libs/(?!platform/)' },
    ),
    only(
      'messaging-above-oauth-and-platform',
      'messages depend only on the protocol and the platform',
      { path: '^libs/messaging/src' },
      { path: '^libs/(?!messaging/|oauth/|platform/)' },
    ),
    only(
      'introspection-above-messaging',
      'an API can use the introspection library without the rest',
      { path: '^libs/introspection/src' },
      { path: '^libs/(?!introspection/|messaging/|oauth/|platform/)' },
    ),
    only(
      'openapi-above-oauth',
      'descriptions of endpoints depend only on the protocol',
      { path: '^libs/openapi/src' },
      { path: '^libs/(?!openapi/|oauth/)' },
    ),
    only(
      'database-above-oauth-and-platform',
      'stores depend only on the protocol and the platform',
      { path: '^libs/database/src' },
      { path: '^libs/(?!database/|oauth/|platform/)' },
    ),
    only(
      'grants-above-database-and-messaging',
      'grants depend on storage and messaging, and not on the APIs that use them',
      { path: '^libs/grants/src' },
      { path: '^libs/(?!grants/|oauth/|platform/|database/|messaging/)' },
    ),
    only(
      'grants-change-through-the-engine',
      'GrantEngine and RevocationService own every transition of a grant',
      { path: '^(apps|libs)/[^/]+/src', pathNot: '^libs/grants/' },
      { path: '^libs/grants/src/grant\\.store\\.ts$' },
    ),
    only(
      'clients-above-audit-and-database',
      'metadata documents are fetched, stored and recorded the same way for every process',
      { path: '^libs/clients/src' },
      { path: '^libs/(?!clients/|oauth/|platform/|database/|audit/)' },
    ),
    only(
      'audit-above-messaging',
      'the audit trail depends on no feature',
      { path: '^libs/audit/src' },
      { path: '^libs/(?!audit/|oauth/|platform/|messaging/)' },
    ),
    only(
      'ui-above-oauth-and-platform',
      'the design system imports no page',
      { path: '^libs/ui/src' },
      { path: '^libs/(?!ui/|oauth/|platform/)' },
    ),
    only(
      'administration-below-apps',
      'administration depends on neither a terminal nor a web server',
      { path: '^libs/administration/src' },
      {
        path: '^libs/(introspection|openapi|ui)/|node_modules/(commander|cli-progress|wrap-ansi|string-width|fastify|@nestjs/platform-fastify)/',
      },
    ),
    only(
      'administration-for-operators',
      'only the apps of operators change registrations',
      { path: '^(apps/(?!operator/|console/)|libs/(?!administration/))' },
      { path: '^libs/administration/' },
    ),
    only(
      'ui-imports-no-feature',
      'templates get their data from the features',
      { path: '^apps/([^/]+)/src/ui/' },
      { path: '^apps/$1/src/(?!ui/)[^/]+/' },
    ),
    only(
      'local-above-libs',
      'npm start runs the built apps, without tests and tools',
      { path: '^local/(?!test/)' },
      { path: '^(apps|test|qa)/' },
    ),
    only('support-below-tools', 'tests never import tools', { path: '^test/' }, { path: '^qa/' }),
    only(
      'product-stands-alone',
      'the product never imports the local environment, tests or tools',
      { path: '^(apps|libs)/[^/]+/src' },
      { path: '^(local|test|qa)/' },
    ),
    only(
      'only-stores-touch-redis',
      'ioredis belongs to stores and their module',
      {
        path: '^(apps|libs)/[^/]+/src',
        pathNot: '\\.store\\.ts$|^libs/platform/src/redis/',
      },
      { path: 'node_modules/ioredis' },
    ),
    only(
      'only-stores-touch-sql',
      'TypeORM belongs to the database library',
      {
        path: '^(apps|libs)/[^/]+/src',
        pathNot:
          '^libs/database/src/.*(\\.store|\\.statements|\\.entity|\\.module|connection/.*|migrations/.*)\\.ts$',
      },
      { path: 'node_modules/(typeorm|@nestjs/typeorm|pg)/' },
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|qa/bench/peers|test/recipes/drivers|test/mcp/clients|libs/introspection/dist)' },
    tsPreCompilationDeps: true,
    // The package.json of libs/introspection does not list the libraries that are bundled into the package.
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
