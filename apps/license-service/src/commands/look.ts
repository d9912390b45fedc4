/** The read-only commands `list` and `show`. */
import { formatDay, formatTable } from '@muster/terminal';
import { Option } from 'commander';
import { getLicense, type License, listLicenses, stateOf } from '../operators/license.ts';
import { inReadOnlyTransaction, RefusedError } from '../operators/transaction.ts';
import {
  type LicenseCommand,
  numberOption,
  productOption,
  readLicenseRef,
  textOption,
  addIdOption,
} from './command.ts';
import { formatLicenseEnd, licenseOutput } from './shown.ts';
import { parseCount } from './term.ts';

const defaultPageSize = 50;
const maxPageSize = 1_000;

const formatMachineCell = ({ machineLimit, machinesUsed, machineHint }: License): string =>
  machineLimit > 1 || machinesUsed > 1 ? `${machinesUsed}/${machineLimit}` : (machineHint ?? '-');

const listCommand: LicenseCommand = {
  name: 'list',
  description: 'List licenses, newest first',
  configure: (command) =>
    command
      .option('--product <product>', 'only of this product')
      .option('--plan <plan>', 'only of this plan')
      .addOption(
        new Option('--status <status>', 'only of this status').choices(['active', 'suspended', 'revoked']),
      )
      .option('--customer <ref>', 'only of this customer')
      .option('--order <order>', 'only of this order')
      .option('--limit <number>', `how many; by default ${defaultPageSize}`, parseCount)
      .option('--after <id>', 'continue after this license, the last one of the previous page'),
  run: async ({ pool }, options) => {
    const limit = numberOption(options, 'limit') ?? defaultPageSize;
    if (limit < 1 || limit > maxPageSize)
      throw new RefusedError('limit', `a page has 1 to ${maxPageSize} licenses`);
    const after = textOption(options, 'after');
    const items = await inReadOnlyTransaction(pool, async (db) => {
      if (after !== undefined) await getLicense(db, { id: after });
      const filter = {
        product: productOption(options),
        plan: textOption(options, 'plan'),
        status: textOption(options, 'status'),
        after,
        limit,
      };
      return listLicenses(db, {
        ...filter,
        ...{ customerRef: textOption(options, 'customer'), orderRef: textOption(options, 'order') },
      });
    });
    const last = items.length === limit ? items.at(-1)?.id : undefined;
    return {
      json: { items: items.map((one) => ({ ...one, state: stateOf(one) })), nextAfter: last ?? null },
      lines: [
        ...formatTable(
          ['ID', 'KEY', 'PLAN', 'STATE', 'ENDS', 'MACHINE', 'LAST SEEN', 'CUSTOMER', 'ORDER'],
          items.map((one) => [
            one.id,
            `…${one.hint}`,
            one.plan,
            stateOf(one),
            formatLicenseEnd(one),
            formatMachineCell(one),
            ...[formatDay(one.lastSeenAt), one.customerRef ?? '-', one.orderRef ?? '-'],
          ]),
        ),
        ...(last === undefined ? [] : [`More: use --after ${last}`]),
      ],
    };
  },
};

const showCommand: LicenseCommand = {
  name: 'show',
  description: 'Show one license',
  configure: addIdOption,
  run: async (context, options) => {
    const ref = await readLicenseRef(context, options);
    return licenseOutput(await inReadOnlyTransaction(context.pool, (db) => getLicense(db, ref)));
  },
};

export const readCommands = [listCommand, showCommand];
