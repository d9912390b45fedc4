import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listContracts } from '../../data/contracts.ts';

export const list = handle(registry.contracts.list, ({ params, targetId, db }) =>
  listContracts(db, targetId, params),
);
