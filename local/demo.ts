import { runDemo } from './demo/run-demo.js';
import { runScript } from './demo/run-script.js';

await runScript(runDemo);
