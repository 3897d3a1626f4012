import { resolve } from 'node:path';
import { TestEnvironment } from 'jest-environment-node';

/** Jest measures the coverage of its workers; Node records the coverage of the processes that tests start. */
export default class CoverageEnvironment extends TestEnvironment {
  constructor(...given) {
    super(...given);
    process.env.NODE_V8_COVERAGE = resolve('coverage/processes');
  }
}
