import { ModuleMocker } from 'jest-mock';

/** Environment of a suite without a VM context, because modules are loaded outside (native-runner.mjs). */
export default class Environment {
  global = {};
  moduleMocker = new ModuleMocker(globalThis);

  async setup() {}

  async teardown() {}

  getVmContext() {
    return null;
  }
}
