#!/usr/bin/env node
// `npx operator` in this repository. An image has the built command only.
import { createRequire } from 'node:module';
import '../../build.mjs';

createRequire(import.meta.url)('../../dist/apps/operator.cjs');
