#!/usr/bin/env node
import * as nodeModule from 'node:module';
import './older-node.ts';

// Half of the time that a command takes is spent on reading the contract: what is imported from here on is read from a
// cache the next time, from Node 22 on.
if ('enableCompileCache' in nodeModule) nodeModule.enableCompileCache();
const { start } = await import('./start.ts');
await start();
