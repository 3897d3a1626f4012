import { describeHistories } from './describe-histories.js';

describe('concurrent histories of many clients, several processes, and a Redis that forgets', () => {
  describeHistories(150, 2);
});
