// Where `#lib/file.js` is written: package.json sends it to dist, this to its source.
const path = require('node:path');
const libs = ['oauth', 'grants', 'introspection', 'database', 'audit', 'platform', 'openapi', 'messaging'];

module.exports = {
  resolve: {
    alias: {
      ...Object.fromEntries(libs.map((lib) => [`#${lib}`, path.join(__dirname, 'libs', lib, 'src')])),
      '#local': path.join(__dirname, 'local'),
      '#test': path.join(__dirname, 'test'),
    },
    extensionAlias: { '.js': ['.ts', '.js'] },
  },
};
