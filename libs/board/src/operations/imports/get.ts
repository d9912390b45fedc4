import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { imports, toImport } from '../../data/imports.ts';

export const get = handle(boardRegistry.imports.get, async ({ targetId, db }) => ({
  import: toImport(await imports.get(db, targetId)),
}));
