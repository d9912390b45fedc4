import { type BoardRegistry } from '@muster/board-registry';
import { type HandlersOf } from '@muster/runtime';
import { add } from './add.ts';
import { list } from './list.ts';
import { remove } from './remove.ts';

export const members = { add, remove, list } satisfies HandlersOf<BoardRegistry['projects']['members']>;
