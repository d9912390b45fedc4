import { defineService, runServices } from '@muster/http';
import { createSignIn } from './app.ts';
import { readConfig } from './config.ts';

export const startService = defineService('sign-in', readConfig, createSignIn);

if (import.meta.main) await runServices([startService]);
