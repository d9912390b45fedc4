import { type BoardRegistry } from '@muster/board-registry';
import { type HandlersOf } from '@muster/runtime';
import { find } from './find.ts';

export const search = { find } satisfies HandlersOf<BoardRegistry['search']>;
