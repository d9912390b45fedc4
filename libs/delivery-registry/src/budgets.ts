import { z } from 'zod';
import {
  org,
  operation,
  surfacesWithoutTool,
  pageParams,
  pageSchemaOf,
  boundedText,
  Deleted,
  Id,
  ProjectRef,
  Budget,
  BudgetAction,
  BudgetAmount,
  BudgetPeriod,
  BudgetScope,
  Currency,
  isBudgetTarget,
} from '@muster/contract';

const exampleBudgetId = '01936d5c-0000-7000-8000-0000000000e1';

export const budgets = {
  set: operation({
    name: 'budgets.set',
    effect: 'write',
    idempotent: true,
    summary: 'Set the budget of the organization, a project, an agent or a story',
    keywords: 'limit spend money cost cap stop agents',
    description:
      'Replaces the budget of the same target and period. At 80 percent and at 100 percent, people are notified. At 100 percent, action stop asks agents to stop no later than their next renewal and refuses their acquires, until the budget is raised or a new period (in UTC) begins. Leads of a project can set budgets of the project and its stories; others need an admin.',
    access: org('member', 'projectLead', 'admin'),
    byMemberOnly: true,
    auditsRefusal: true,
    surfaces: surfacesWithoutTool,
    params: z
      .strictObject({
        scope: BudgetScope,
        targetId: boundedText(2048, 1).optional().meta({
          description:
            'The project or story (id or key) or the agent (id or slug); omit it for the scope org',
        }),
        amountMicros: BudgetAmount,
        currency: Currency.default('USD'),
        period: BudgetPeriod,
        action: BudgetAction,
      })
      .refine(isBudgetTarget, {
        error: 'must name the record that scope says, and nothing for the scope org',
        path: ['targetId'],
      }),
    result: z.object({ budget: Budget }),
    refusals: ['archived', 'limit_exceeded'],
    emits: ['budget.changed'],
    example: { scope: 'project', targetId: 'WEB', amountMicros: 50_000_000, period: 'month', action: 'stop' },
  }),
  list: operation({
    name: 'budgets.list',
    effect: 'read',
    summary: 'List budgets with what was spent',
    keywords: 'limit spend money cost cap remaining',
    description:
      'Admins with the scope admin see all budgets, leads those of their projects and their stories. Newest first.',
    access: org('member'),
    byMemberOnly: true,
    surfaces: surfacesWithoutTool,
    params: z.strictObject({
      scope: BudgetScope.optional(),
      projectId: ProjectRef.optional(),
      ...pageParams,
    }),
    result: pageSchemaOf(Budget),
    example: {},
  }),
  delete: operation({
    name: 'budgets.delete',
    effect: 'write',
    destructive: true,
    summary: 'Delete a budget',
    keywords: 'remove limit cap',
    description: 'A stop by this budget ends. What was spent stays in usage.summary.',
    access: org('member', 'projectLead', 'admin'),
    byMemberOnly: true,
    auditsRefusal: true,
    surfaces: surfacesWithoutTool,
    params: z.strictObject({ budgetId: Id }),
    result: Deleted,
    refusals: ['archived'],
    emits: ['budget.deleted'],
    example: { budgetId: exampleBudgetId },
  }),
};
