import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { imports, toImport } from '../../data/imports.ts';

export const get = handle(registry.imports.get, async ({ targetId, db }) => ({
  import: toImport(await imports.get(db, targetId)),
}));
