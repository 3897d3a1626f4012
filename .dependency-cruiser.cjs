// The layers of ARCHITECTURE.md, checked by `npm run lint`.
const only = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

// What operators do: the last layer below the apps.
const OPERATIONS = '^libs/([^/]+/src/operations|operations/src|diagnosis/src)/';

/** The parts of a library that every process may load import only these libraries. */
const above = (library, libraries, comment) =>
  only(
    libraries.length === 0 ? `${library}-alone` : `${library}-above-${libraries.at(-1)}`,
    comment,
    { path: `^libs/${library}/src`, pathNot: OPERATIONS },
    { path: `^libs/(?!(${[library, ...libraries].join('|')})/)` },
  );

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
    // Layers, from the bottom: oauth and platform; error-guide; messaging, openapi, scopes and ui; keys, audit and introspection; grants;
    // users; clients; database; the operations of operators; apps.
    only(
      'oauth-alone',
      'the rules of the protocol are pure functions',
      { path: '^libs/oauth/src' },
      { path: '^libs/(?!oauth/)|node_modules/(@nestjs|typeorm|pg|ioredis|@nats-io|fastify)/' },
    ),
    above('platform', [], 'code that every process shares imports no domain code'),
    above('messaging', ['oauth', 'platform'], 'messages depend only on the protocol and the platform'),
    above(
      'error-guide',
      ['oauth', 'platform'],
      'the guide explains the reasons of the protocol, and has no other content',
    ),
    above('openapi', ['error-guide', 'oauth'], 'descriptions of endpoints depend only on the protocol'),
    above('scopes', ['oauth', 'error-guide', 'platform'], 'every process reads the scopes'),
    above('ui', ['oauth', 'platform'], 'the design system imports no page'),
    above('pages', ['oauth', 'platform', 'ui'], 'pages of logged-in users share no feature'),
    above(
      'introspection',
      ['messaging', 'error-guide', 'oauth', 'platform'],
      'an API can use the introspection library without the rest',
    ),
    above('keys', ['oauth', 'platform'], 'keys belong to no grant'),
    above('audit', ['oauth', 'platform', 'messaging'], 'the audit trail depends on no feature'),
    above(
      'grants',
      ['oauth', 'platform', 'messaging', 'keys'],
      'grants depend on storage and messaging, and not on the APIs that use them',
    ),
    above('users', ['oauth', 'platform', 'messaging', 'audit', 'grants'], 'a user ends with the grants'),
    above(
      'clients',
      ['oauth', 'error-guide', 'platform', 'messaging', 'audit', 'grants', 'users'],
      'a client ends with the grants; problems of metadata documents are recorded as text',
    ),
    above(
      'events',
      ['oauth', 'platform'],
      'an outbox belongs to the transaction, and a token to the protocol',
    ),
    above(
      'mail',
      ['oauth', 'platform'],
      'an outbox belongs to the transaction; the process that sends has the texts',
    ),
    above(
      'database',
      ['oauth', 'platform', 'messaging', 'keys', 'audit', 'grants', 'users', 'clients', 'events', 'mail'],
      'one connection has the tables of every room',
    ),
    only(
      'operations-for-operators',
      'other processes load no operation of operators and owners',
      { path: '^(apps/(?!operator/|console/|developers/)[^/]+|libs/[^/]+)/src', pathNot: OPERATIONS },
      { path: OPERATIONS },
    ),
    only(
      'operations-below-apps',
      'operations depend on neither a terminal nor a web server',
      { path: OPERATIONS },
      {
        path: '^libs/(introspection|openapi|pages|ui)/|node_modules/(commander|cli-progress|wrap-ansi|string-width|fastify|@nestjs/platform-fastify)/',
      },
    ),
    only(
      'grants-change-through-the-engine',
      'GrantEngine and RevocationService own every transition of a grant',
      { path: '^(apps|libs)/[^/]+/src', pathNot: '^libs/grants/' },
      { path: '^libs/grants/src/grant\\.store\\.ts$' },
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
      'statements-belong-to-stores',
      'what is above a store calls its methods',
      { path: '^apps/[^/]+/src|^libs/[^/]+/src/operations/' },
      { path: '\\.statements?\\.ts$' },
    ),
    only(
      'only-stores-touch-sql',
      'TypeORM belongs to stores and the connection',
      {
        path: '^(apps|libs)/[^/]+/src',
        pathNot: '(\\.store|\\.statements?|\\.entity)\\.ts$|^libs/(database/src|platform/src/postgres)/',
      },
      { path: 'node_modules/(typeorm|@nestjs/typeorm|pg)/' },
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|test/recipes/drivers|test/mcp/clients|libs/introspection/dist)' },
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
