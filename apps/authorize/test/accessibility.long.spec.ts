import { describeAccessibility } from './scenes/accessibility.js';

describeAccessibility('ar');
