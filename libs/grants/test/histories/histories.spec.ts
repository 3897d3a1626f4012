import { describeHistories } from './describe-histories.js';

describe('concurrent histories of many clients and several processes, while Redis loses data,', () => {
  describeHistories(150, 2);
});
