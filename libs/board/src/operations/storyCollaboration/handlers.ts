import { type BoardRegistry } from '@muster/board-registry';
import { type HandlersOf } from '@muster/runtime';
import { context } from './context.ts';

export const storyCollaboration = { context } satisfies HandlersOf<BoardRegistry['storyCollaboration']>;
