// Resolves `#lib/file.js` to the TypeScript source; `imports` of package.json maps it to dist.
const path = require('node:path');
const { imports } = require('./package.json');

const alias = Object.entries(imports).map(([name, target]) => [
  name.replace('/*.js', ''),
  path.join(__dirname, target.replace('./dist/', '').replace('/*.js', '')),
]);

module.exports = {
  resolve: { alias: Object.fromEntries(alias), extensionAlias: { '.js': ['.ts', '.js'] } },
};
