import { orgRank } from '@muster/contract';
import { deliveryRegistry } from '@muster/delivery-registry';
import { handle, requireProject } from '@muster/runtime';
import { projectIdSql } from '@muster/tenancy';
import { listBudgets } from '../../data/budgets.ts';

export const list = handle(deliveryRegistry.budgets.list, async ({ params, caller, db, access }) => {
  const { projectId } = params;
  const [{ actingRole }] = await Promise.all([
    access(),
    projectId === undefined ? undefined : requireProject(db, caller, projectId),
  ]);
  const isAdmin = orgRank(actingRole) >= orgRank('admin');
  return listBudgets(db, caller, isAdmin, params, projectId === undefined ? null : projectIdSql(projectId));
});
