#!/usr/bin/env node
import * as nodeModule from 'node:module';
import './older-node.ts';

// Reading the contract takes half of a command's run time. From Node 22 on, the modules imported below are
// read from a compile cache on the next run.
if ('enableCompileCache' in nodeModule) nodeModule.enableCompileCache();
const { runCommandLine } = await import('./start.ts');
await runCommandLine();
