const { options } = require('./.dependency-cruiser.cjs');

// Cycles between the features of an app. A rule for folders cannot ignore a file, so this run omits the files beside the
// features: these files import features, and features import them.
module.exports = {
  forbidden: [
    {
      name: 'no-feature-cycles',
      comment: 'features that import each other are one feature',
      severity: 'error',
      scope: 'folder',
      from: { path: '^apps/([^/]+)/src/([^/]+)' },
      to: { circular: true, pathNot: '^apps/$1/src/$2(/|$)' },
    },
  ],
  options: { ...options, includeOnly: '^apps/[^/]+/src/', exclude: { path: '^apps/[^/]+/src/[^/]+\\.ts$' } },
};
