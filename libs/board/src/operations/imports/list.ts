import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { listImports } from '../../data/imports.ts';

export const list = handle(boardRegistry.imports.list, ({ params, targetId, db }) =>
  listImports(db, targetId, params),
);
