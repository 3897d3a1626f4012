// Suites import `jest` from '@jest/globals', which resolves to this file.
import { ModuleMocker } from 'jest-mock';

export const jest = new ModuleMocker(globalThis);
