#!/usr/bin/env node
// Runs `npx operator` in this repository. A container image contains only the built command.
import { createRequire } from 'node:module';
import '../../build.mjs';

createRequire(import.meta.url)('../../dist/apps/operator.cjs');
