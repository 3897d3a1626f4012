import { resolve } from 'node:path';
import { TestEnvironment } from 'jest-environment-node';

/** Jest sees what runs in its workers. Node writes down what the processes did that a test starts. */
export default class CoverageEnvironment extends TestEnvironment {
  constructor(...given) {
    super(...given);
    process.env.NODE_V8_COVERAGE = resolve('coverage/processes');
  }
}
