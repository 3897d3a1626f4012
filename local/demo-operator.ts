import { runDay } from './demo-operator/day.js';
import { runScript } from './demo/run-script.js';

await runScript(runDay);
