/** The command `purge`: deletes old counts of refusals. */
import { purgeDenials } from '../operators/retention.ts';
import { inTransaction, Refused } from '../operators/transaction.ts';
import { type LicenseCommand, number } from './command.ts';
import { toCount } from './term.ts';

const usualDays = 365;
/** The smallest number of days that an operator can keep. The command `stats` counts that many days. */
const fewestDays = 30;

export const purgeCommand: LicenseCommand = {
  name: 'purge',
  description: 'Delete old counts of refusals; run it once a day',
  shape: (it) => it.option('--days <number>', `how many days to keep; by default ${usualDays}`, toCount),
  run: async ({ pool }, options) => {
    const days = number(options, 'days') ?? usualDays;
    if (days < fewestDays) throw new Refused('days', `at least ${fewestDays} days must be kept`);
    let removed = 0;
    for (;;) {
      const { rows, isMore } = await inTransaction(pool, (db) => purgeDenials(db, days));
      removed += rows;
      if (!isMore) break;
    }
    return { json: { removed }, lines: [`Removed ${removed} counts of refusals.`] };
  },
};
