import { type BoardRegistry } from '@muster/board-registry';
import { type HandlersOf } from '@muster/runtime';
import { begin } from './begin.ts';
import { finish } from './finish.ts';
import { get } from './get.ts';
import { list } from './list.ts';
import { put } from './put.ts';
import { undo } from './undo.ts';

export const imports = { begin, put, finish, get, list, undo } satisfies HandlersOf<BoardRegistry['imports']>;
