// `node --import …/register-typescript.mjs file.ts` runs this project's TypeScript from its sources.
import { register } from 'node:module';

register('./typescript-hooks.mjs', import.meta.url);
