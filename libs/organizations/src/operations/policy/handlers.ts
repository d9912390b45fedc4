import { type Registry } from '@muster/registry';
import { type HandlersOf } from '@muster/runtime';
import { get } from './get.ts';
import { update } from './update.ts';

export const policy = { get, update } satisfies HandlersOf<Registry['policy']>;
