import { table } from '@muster/terminal';
import {
  findPlan,
  listPlans,
  type LicensePlan,
  setPlan,
  usualMachineLimit,
  usualTransferLimit,
} from '../operators/plans.ts';
import { getProduct, usualProduct } from '../operators/products.ts';
import { inTransaction, reading, Refused } from '../operators/transaction.ts';
import { featureWords } from '../features.ts';
import { type LicenseCommand, number, productIn, withProduct } from './command.ts';
import { featuresOf, withFeatures } from './features.ts';
import { leaseWords, machinesWords, spanOf } from './shown.ts';
import { termOf, toCount, toLease, toMachines, withTerm } from './term.ts';

const termWords = ({ term }: LicensePlan): string =>
  term === null ? 'given when issued' : term.kind === 'for' ? spanOf(term.seconds) : 'perpetual';

export const planList: LicenseCommand = {
  name: 'plan list',
  description: 'List the plans',
  run: async ({ pool }) => {
    const items = await reading(pool, (db) => listPlans(db));
    return {
      json: { items },
      lines: table(
        ['PRODUCT', 'PLAN', 'TERM', 'MACHINES', 'LEASE', 'TRANSFERS', 'FEATURES'],
        items.map((plan) => [
          ...[
            plan.product,
            plan.name,
            termWords(plan),
            String(plan.machineLimit),
            leaseWords(plan.leaseSeconds),
          ],
          ...[String(plan.transferLimit), featureWords(plan.features)],
        ]),
      ),
    };
  },
};

export const planSet: LicenseCommand = {
  name: 'plan set',
  description: 'Create or change a plan; issued licenses keep their terms, but get the new features',
  shape: (it) =>
    withProduct(withFeatures(withTerm(it)))
      .argument('<plan>', 'lower-case letters, digits and . _ -')
      .option(
        '--transfers <number>',
        `how often customers may transfer a license; by default ${usualTransferLimit}`,
        toCount,
      )
      .option(
        '--machines <number>',
        `how many machines can hold a license at the same time; by default ${usualMachineLimit}`,
        toMachines,
      )
      .option(
        '--lease <span>',
        'lend a slot to a machine for this long, such as 15m; without it the machine keeps the slot',
        toLease,
      )
      .option('--no-lease', 'stop lending slots'),
  run: async ({ pool }, options, [name = '']) => {
    const term = termOf(options);
    if (term?.kind === 'until')
      throw new Refused(
        'plan_term',
        "a plan's term is a duration (--for) or unlimited (--perpetual), not a date",
      );
    const lease = options['lease'];
    const plan = await inTransaction(pool, async (db) => {
      const { name: product } = await getProduct(db, productIn(options) ?? usualProduct);
      const before = await findPlan(db, name, product);
      const transferLimit = number(options, 'transfers') ?? before?.transferLimit ?? usualTransferLimit;
      const machineLimit = number(options, 'machines') ?? before?.machineLimit ?? usualMachineLimit;
      const features = featuresOf(options, before?.features);
      const leaseSeconds =
        lease === false ? null : typeof lease === 'number' ? lease : (before?.leaseSeconds ?? null);
      const terms = { leaseSeconds, term: term ?? before?.term ?? null, transferLimit, machineLimit };
      return setPlan(db, { product, name, ...terms, features });
    });
    return {
      json: { plan },
      lines: [
        `Plan ${plan.name}: term ${termWords(plan)}, ${machinesWords(plan.machineLimit)}${plan.leaseSeconds === null ? '' : ` for ${leaseWords(plan.leaseSeconds)} at a time`}, ${plan.transferLimit} transfers, features ${featureWords(plan.features)}. What was sold keeps its terms; machines have these features with their next certificate.`,
      ],
    };
  },
};
