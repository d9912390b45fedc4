import { type BoardRegistry } from '@muster/board-registry';
import { type HandlersOf } from '@muster/runtime';
import { get } from './get.ts';
import { history } from './history.ts';
import { restore } from './restore.ts';
import { update } from './update.ts';

export const storySpec = { get, update, history, restore } satisfies HandlersOf<BoardRegistry['storySpec']>;
