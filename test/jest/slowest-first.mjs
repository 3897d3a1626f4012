import Sequencer from '@jest/test-sequencer';

/** Suites that take longest, in this order, although their files are small. */
const SLOWEST = [
  'qa/test/soak',
  'test/recipes/relying-parties',
  'test/recipes/',
  'test/topology/failover',
  'libs/introspection/test/package',
  'test/examples/',
  'test/topology/',
  'test/mcp/',
];

/** Starts the slowest suites first. Without durations of an earlier run, Jest starts the largest files first. */
export default class SlowestFirst extends Sequencer {
  sort(tests) {
    const rank = ({ path }) => {
      const index = SLOWEST.findIndex((part) => path.includes(part));
      return index < 0 ? SLOWEST.length : index;
    };
    return [...super.sort(tests)].sort((one, other) => rank(one) - rank(other));
  }
}
