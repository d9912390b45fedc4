import { type BoardRegistry } from '@muster/board-registry';
import { type HandlersOf } from '@muster/runtime';
import { list } from './list.ts';
import { publish } from './publish.ts';

export const contracts = { publish, list } satisfies HandlersOf<BoardRegistry['contracts']>;
