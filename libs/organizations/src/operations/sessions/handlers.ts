import { type Registry } from '@muster/registry';
import { type HandlersOf } from '@muster/runtime';
import { list } from './list.ts';
import { revoke } from './revoke.ts';
import { revokeOthers } from './revokeOthers.ts';

export const sessions = { list, revoke, revokeOthers } satisfies HandlersOf<Registry['sessions']>;
