import { leadRank } from '@muster/contract';
import { deliveryRegistry } from '@muster/delivery-registry';
import { handle, notFound } from '@muster/runtime';
import { budgetSubject, deleteBudget, lockBudget } from '../../data/budgets.ts';

export const deleteOne = handle(
  deliveryRegistry.budgets.delete,
  async ({ params: { budgetId }, caller, db, emit, requireGround }) => {
    const budget = await lockBudget(db, caller, budgetId);
    if (budget.projectId !== null && budget.rank === 0) throw notFound();
    await requireGround(budget.rank >= leadRank && 'projectLead');
    db.deferToCommit(deleteBudget(budgetId));
    emit('budget.deleted', budgetSubject(budget), {});
    return { deleted: true as const };
  },
);
