import { leadRank } from '@muster/contract';
import { deliveryRegistry } from '@muster/delivery-registry';
import { handle } from '@muster/runtime';
import { budgetSubject, maxBudgets, setBudget } from '../../data/budgets.ts';
import { findBudgetTarget } from '../../data/budget-targets.ts';

export const set = handle(
  deliveryRegistry.budgets.set,
  async ({ params, caller, db, emit, refuse, requireGround }) => {
    const { rank, isArchived, ...target } = await findBudgetTarget(db, caller, params);
    await requireGround(rank >= leadRank && 'projectLead');
    if (isArchived) throw refuse('archived');
    const budget = await setBudget(db, caller.actor, target, params);
    if (budget === undefined) throw refuse('limit_exceeded', { limit: maxBudgets });
    const { amountMicros, currency } = budget;
    emit('budget.changed', budgetSubject(budget), { amountMicros, currency });
    return { budget };
  },
);
