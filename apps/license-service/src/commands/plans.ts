import {
  findPlan,
  listPlans,
  type LicensePlan,
  setPlan,
  defaultMachineLimit,
  defaultTransferLimit,
} from '../operators/plans.ts';
import { getProduct, defaultProduct } from '../operators/products.ts';
import { inTransaction, inReadOnlyTransaction, RefusedError } from '../operators/transaction.ts';
import { formatFeatures } from '../features.ts';
import { type UpdatePolicy } from '../releases/records.ts';
import { formatMeters } from '../meters.ts';
import { listOutput, type LicenseCommand, numberOption, productOption, addProductOption } from './command.ts';
import { applyFeatureOptions, addFeatureOptions } from './features.ts';
import { formatLeaseDuration, formatMachineCount, formatDuration } from './shown.ts';
import { addUpdatesOption } from './releases.ts';
import { addMeterOptions, applyMeterOptions } from './usage.ts';
import { termOptions, parseCount, parseLeaseSeconds, parseMachineLimit, addTermOptions } from './term.ts';

const formatTerm = ({ term }: LicensePlan): string =>
  term === null ? 'given when issued' : term.kind === 'for' ? formatDuration(term.seconds) : 'perpetual';

const planListCommand: LicenseCommand = {
  name: 'plan list',
  description: 'List the plans',
  run: async ({ pool }) => {
    const items = await inReadOnlyTransaction(pool, (db) => listPlans(db));
    return listOutput(items, {
      PRODUCT: (plan) => plan.product,
      PLAN: (plan) => plan.name,
      TERM: formatTerm,
      MACHINES: (plan) => String(plan.machineLimit),
      LEASE: (plan) => formatLeaseDuration(plan.leaseSeconds),
      TRANSFERS: (plan) => String(plan.transferLimit),
      FEATURES: (plan) => formatFeatures(plan.features),
      METERS: (plan) => formatMeters(plan.meters),
    });
  },
};

const planSetCommand: LicenseCommand = {
  name: 'plan set',
  description:
    'Create or change a plan; issued licenses keep their terms, but get the new features and meters',
  configure: (it) =>
    addProductOption(addUpdatesOption(addMeterOptions(addFeatureOptions(addTermOptions(it)))))
      .argument('<plan>', 'lower-case letters, digits and . _ -')
      .option(
        '--transfers <number>',
        `how often customers may transfer a license; by default ${defaultTransferLimit}`,
        parseCount,
      )
      .option(
        '--machines <number>',
        `how many machines can hold a license at the same time; by default ${defaultMachineLimit}`,
        parseMachineLimit,
      )
      .option(
        '--lease <span>',
        'lend a slot to a machine for this long, such as 15m; without it the machine keeps the slot',
        parseLeaseSeconds,
      )
      .option('--no-lease', 'stop lending slots'),
  run: async ({ pool }, options, [name = '']) => {
    const term = termOptions(options);
    if (term?.kind === 'until')
      throw new RefusedError(
        'plan_term',
        "a plan's term is a duration (--for) or unlimited (--perpetual), not a date",
      );
    const lease = options['lease'];
    const plan = await inTransaction(pool, async (db) => {
      const { name: product } = await getProduct(db, productOption(options) ?? defaultProduct);
      const before = await findPlan(db, name, product);
      const transferLimit =
        numberOption(options, 'transfers') ?? before?.transferLimit ?? defaultTransferLimit;
      const machineLimit = numberOption(options, 'machines') ?? before?.machineLimit ?? defaultMachineLimit;
      const features = applyFeatureOptions(options, before?.features);
      const meters = applyMeterOptions(options, before?.meters);
      const updates = (options['updates'] as UpdatePolicy | undefined) ?? before?.updates ?? {};
      const leaseSeconds =
        lease === false ? null : typeof lease === 'number' ? lease : (before?.leaseSeconds ?? null);
      const terms = { leaseSeconds, term: term ?? before?.term ?? null, transferLimit, machineLimit };
      return setPlan(db, { product, name, ...terms, features, meters, updates });
    });
    return {
      json: { plan },
      lines: [
        `Plan ${plan.name}: term ${formatTerm(plan)}, ${formatMachineCount(plan.machineLimit)}${plan.leaseSeconds === null ? '' : ` for ${formatLeaseDuration(plan.leaseSeconds)} at a time`}, ${plan.transferLimit} transfers, features ${formatFeatures(plan.features)}, meters ${formatMeters(plan.meters)}. What was sold keeps its terms; machines have these features with their next certificate.`,
      ],
    };
  },
};

export const planCommands = [planListCommand, planSetCommand];
