import { type BoardRegistry } from '@muster/board-registry';
import { type HandlersOf } from '@muster/runtime';
import { clear } from './clear.ts';
import { listForOrg } from './listForOrg.ts';
import { listForProject } from './listForProject.ts';
import { set } from './set.ts';

export const assignments = {
  set,
  clear,
  listForProject,
  listForOrg,
} satisfies HandlersOf<BoardRegistry['assignments']>;
