#!/usr/bin/env node
import { processTerminal } from '#cli/client/process-terminal.ts';
import { run } from '#cli/run.ts';

process.exitCode = await run(process.argv.slice(2), processTerminal());
