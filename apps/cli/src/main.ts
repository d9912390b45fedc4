#!/usr/bin/env node
import { enableCompileCache } from 'node:module';

// Half of the time that a command takes is spent on reading the contract: what is imported from here on is read from a
// cache the next time.
enableCompileCache();
const { start } = await import('./start.ts');
await start();
