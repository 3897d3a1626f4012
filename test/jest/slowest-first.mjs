import Sequencer from '@jest/test-sequencer';

/** Suites that take minutes although their files are small. */
const SLOWEST = ['qa/test/soak-seeds', 'test/topology/', 'test/recipes/', 'test/end-to-end/operate'];

/** Starts the slowest suites first. Without durations of an earlier run, Jest starts the largest files first. */
export default class SlowestFirst extends Sequencer {
  sort(tests) {
    const isSlow = ({ path }) => SLOWEST.some((part) => path.includes(part));
    const sorted = super.sort(tests);
    return [...sorted.filter(isSlow), ...sorted.filter((test) => !isSlow(test))];
  }
}
