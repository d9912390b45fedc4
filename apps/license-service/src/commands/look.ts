/** The read-only commands `list` and `show`. */
import { dayOf, table } from '@muster/terminal';
import { Option } from 'commander';
import { getLicense, type License, listLicenses, stateOf } from '../operators/license.ts';
import { reading, Refused } from '../operators/transaction.ts';
import { type LicenseCommand, number, productIn, refOf, text, withId } from './command.ts';
import { endOf, shownLicense } from './shown.ts';
import { toCount } from './term.ts';

const usualLimit = 50;
const mostLimit = 1_000;

const machineCell = ({ machineLimit, machinesUsed, machineHint }: License): string =>
  machineLimit > 1 || machinesUsed > 1 ? `${machinesUsed}/${machineLimit}` : (machineHint ?? '-');

export const listCommand: LicenseCommand = {
  name: 'list',
  description: 'List licenses, newest first',
  shape: (command) =>
    command
      .option('--product <product>', 'only of this product')
      .option('--plan <plan>', 'only of this plan')
      .addOption(
        new Option('--status <status>', 'only of this status').choices(['active', 'suspended', 'revoked']),
      )
      .option('--customer <ref>', 'only of this customer')
      .option('--order <order>', 'only of this order')
      .option('--limit <number>', `how many; by default ${usualLimit}`, toCount)
      .option('--after <id>', 'continue after this license, the last one of the previous page'),
  run: async ({ pool }, options) => {
    const limit = number(options, 'limit') ?? usualLimit;
    if (limit < 1 || limit > mostLimit) throw new Refused('limit', `a page has 1 to ${mostLimit} licenses`);
    const after = text(options, 'after');
    const items = await reading(pool, async (db) => {
      if (after !== undefined) await getLicense(db, { id: after });
      const filter = {
        product: productIn(options),
        plan: text(options, 'plan'),
        status: text(options, 'status'),
        after,
        limit,
      };
      return listLicenses(db, {
        ...filter,
        ...{ customerRef: text(options, 'customer'), orderRef: text(options, 'order') },
      });
    });
    const last = items.length === limit ? items.at(-1)?.id : undefined;
    return {
      json: { items: items.map((one) => ({ ...one, state: stateOf(one) })), nextAfter: last ?? null },
      lines: [
        ...table(
          ['ID', 'KEY', 'PLAN', 'STATE', 'ENDS', 'MACHINE', 'LAST SEEN', 'CUSTOMER', 'ORDER'],
          items.map((one) => [
            ...[one.id, `…${one.hint}`, one.plan, stateOf(one), endOf(one), machineCell(one)],
            ...[dayOf(one.lastSeenAt), one.customerRef ?? '-', one.orderRef ?? '-'],
          ]),
        ),
        ...(last === undefined ? [] : [`More: use --after ${last}`]),
      ],
    };
  },
};

export const showCommand: LicenseCommand = {
  name: 'show',
  description: 'Show one license',
  shape: withId,
  run: async (context, options) => {
    const ref = await refOf(context, options);
    return shownLicense(await reading(context.pool, (db) => getLicense(db, ref)));
  },
};
