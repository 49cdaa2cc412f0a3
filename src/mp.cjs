#!/usr/bin/env node
require('./runtime/node-version.cjs');
import('./cli.ts');
