const { options } = require('./.dependency-cruiser.cjs');

// Cycles between the features of an app, and between a feature and a file beside the features.
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
  options: { ...options, includeOnly: '^apps/[^/]+/src/' },
};
