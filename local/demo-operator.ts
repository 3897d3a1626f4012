import { runOperatorDemo } from './demo-operator/run-operator-demo.js';
import { runScript } from './demo/run-script.js';

await runScript(runOperatorDemo);
