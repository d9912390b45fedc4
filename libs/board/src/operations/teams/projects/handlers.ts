import { type BoardRegistry } from '@muster/board-registry';
import { type HandlersOf } from '@muster/runtime';
import { list } from './list.ts';

export const teamProjects = { list } satisfies HandlersOf<BoardRegistry['teams']['projects']>;
