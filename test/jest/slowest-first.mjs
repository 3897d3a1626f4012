import Sequencer from '@jest/test-sequencer';

/** Suites that take longest, in this order, although their files are small. */
const SLOWEST = [
  'qa/test/soak-openid',
  'test/recipes/relying-parties',
  'test/topology/failover',
  'accessibility.long',
  'test/recipes/',
  'libs/introspection/test/package',
  'histories/histories',
  'test/end-to-end/operate',
  'test/examples/example-product',
  'test/mcp/',
  'ui/every-page',
  'test/topology/',
];

/** Starts the slowest suites first. Without durations of an earlier run, Jest starts the largest files first. */
export default class SlowestFirst extends Sequencer {
  async sort(tests) {
    const rank = ({ path }) => {
      const index = SLOWEST.findIndex((part) => path.includes(part));
      return index < 0 ? SLOWEST.length : index;
    };
    return [...(await super.sort(tests))].sort((one, other) => rank(one) - rank(other));
  }
}
