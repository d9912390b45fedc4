/** The command `purge`: deletes old counts of refusals and old usage. */
import { purgeDenials, purgeUsage } from '../operators/retention.ts';
import { inTransaction, RefusedError } from '../operators/transaction.ts';
import { type LicenseCommand, numberOption } from './command.ts';
import { parseCount } from './term.ts';

const defaultRetentionDays = 365;
/**
 * The smallest number of days that an operator can keep. Usage events are accepted for 35 days and count into their month.
 * The command `stats` counts the refusals of 30 days.
 */
const minRetentionDays = 36;

export const purgeCommand: LicenseCommand = {
  name: 'purge',
  description: 'Delete old counts of refusals and usage of old months; run it once a day',
  configure: (it) =>
    it.option('--days <number>', `how many days to keep; by default ${defaultRetentionDays}`, parseCount),
  run: async ({ pool }, options) => {
    const days = numberOption(options, 'days') ?? defaultRetentionDays;
    if (days < minRetentionDays)
      throw new RefusedError('days', `at least ${minRetentionDays} days must be kept`);
    let removed = 0;
    for (const purge of [purgeDenials, purgeUsage])
      for (;;) {
        const { rows, isMore } = await inTransaction(pool, (db) => purge(db, days));
        removed += rows;
        if (!isMore) break;
      }
    return { json: { removed }, lines: [`Removed ${removed} counts of refusals and usage.`] };
  },
};
