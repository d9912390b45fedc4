import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { getImport, toImport } from '../../data/imports.ts';

export const get = handle(registry.imports.get, async ({ targetId, db }) => ({
  import: toImport(await getImport(db, targetId)),
}));
