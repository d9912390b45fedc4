import { table } from '@muster/terminal';
import { findPlan, listPlans, type Plan, setPlan, usualTransferLimit } from '../operators/plans.ts';
import { inTransaction, Refused } from '../operators/transaction.ts';
import { type LicenseCommand, number } from './command.ts';
import { spanOf } from './shown.ts';
import { termOf, toCount, withTerm } from './term.ts';

const termWords = ({ term }: Plan): string =>
  term === null ? 'said at each issue' : term.kind === 'for' ? spanOf(term.seconds) : 'for ever';

export const planList: LicenseCommand = {
  name: 'plan list',
  description: 'List the plans',
  run: async ({ pool }) => {
    const items = await inTransaction(pool, listPlans);
    return {
      json: { items },
      lines: table(
        ['PLAN', 'TERM', 'TRANSFERS'],
        items.map((plan) => [plan.name, termWords(plan), String(plan.transferLimit)]),
      ),
    };
  },
};

export const planSet: LicenseCommand = {
  name: 'plan set',
  description: 'Make a plan or give it other terms; what was sold keeps its own',
  shape: (it) =>
    withTerm(it)
      .argument('<plan>', 'small letters, digits and . _ -')
      .option(
        '--transfers <number>',
        `how often customers may move a license; ${usualTransferLimit} unless said`,
        toCount,
      ),
  run: async ({ pool }, options, [name = '']) => {
    const term = termOf(options);
    if (term?.kind === 'until')
      throw new Refused('plan_term', 'a plan has a length, --for or --perpetual, not a day');
    const plan = await inTransaction(pool, async (ask) => {
      const before = await findPlan(ask, name);
      const transferLimit = number(options, 'transfers') ?? before?.transferLimit ?? usualTransferLimit;
      return setPlan(ask, { name, term: term ?? before?.term ?? null, transferLimit });
    });
    return {
      json: { plan },
      lines: [
        `Plan ${plan.name}: term ${termWords(plan)}, ${plan.transferLimit} transfers. What was sold is as it was.`,
      ],
    };
  },
};
