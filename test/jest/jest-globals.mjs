// `import { jest } from '@jest/globals'` in suites.
import { ModuleMocker } from 'jest-mock';

export const jest = new ModuleMocker(globalThis);
