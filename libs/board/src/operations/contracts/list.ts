import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { listContracts } from '../../data/contracts.ts';

export const list = handle(boardRegistry.contracts.list, ({ params, targetId, db }) =>
  listContracts(db, targetId, params),
);
