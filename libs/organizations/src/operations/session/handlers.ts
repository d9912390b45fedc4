import { type Registry } from '@muster/registry';
import { type HandlersOf } from '@muster/runtime';
import { identity } from './identity.ts';

export const session = { identity } satisfies HandlersOf<Registry['session']>;
