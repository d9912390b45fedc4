import { type BoardRegistry } from '@muster/board-registry';
import { type HandlersOf } from '@muster/runtime';
import { list } from './list.ts';
import { resolve } from './resolve.ts';

export const accessRequests = { list, resolve } satisfies HandlersOf<
  BoardRegistry['projects']['accessRequests']
>;
