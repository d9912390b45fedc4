import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listImports } from '../../data/imports.ts';

export const list = handle(registry.imports.list, ({ params, targetId, db }) =>
  listImports(db, targetId, params),
);
