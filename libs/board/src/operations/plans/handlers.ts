import { type BoardRegistry } from '@muster/board-registry';
import { type HandlersOf } from '@muster/runtime';
import { apply } from './apply.ts';
import { get } from './get.ts';
import { list } from './list.ts';

export const plans = { apply, get, list } satisfies HandlersOf<BoardRegistry['plans']>;
