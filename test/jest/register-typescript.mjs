// Runs TypeScript sources of this project: `node --import …/register-typescript.mjs file.ts`.
import { register } from 'node:module';

register('./typescript-hooks.mjs', import.meta.url);
