import Sequencer from '@jest/test-sequencer';

/** Suites that take longest, in this order, although their files are small. */
const SLOWEST = [
  'test/recipes/relying-parties',
  'qa/test/soak.long',
  'accessibility.long',
  'key-rotation.long',
  'test/topology/',
  'local/test/start',
  'histories/histories',
  'libs/introspection/test/package',
  'test/recipes/',
  'test/end-to-end/operate',
  'test/examples/example-product',
  'test/mcp/',
  'ui/every-page',
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
