// Replaces '@jest/globals', from which suites import `jest`.
import { ModuleMocker } from 'jest-mock';

export const jest = new ModuleMocker(globalThis);
