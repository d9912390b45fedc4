import { type Registry } from '@muster/registry';
import { type HandlersOf } from '@muster/runtime';
import { context } from './context.ts';

export const storyCollaboration = { context } satisfies HandlersOf<Registry['storyCollaboration']>;
