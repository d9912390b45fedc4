import { type Registry } from '@muster/registry';
import { type HandlersOf } from '@muster/runtime';
import { register } from './register.ts';
import { unregister } from './unregister.ts';

export const devices = { register, unregister } satisfies HandlersOf<Registry['devices']>;
