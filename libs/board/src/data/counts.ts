/** Turns off the counting of stories, for transactions that write many stories. */
import { type Query, sql } from '@muster/driver';

/**
 * Stops the triggers that count stories until the end of the transaction. The caller writes the counts of
 * columns, epics and canceled stories itself. The triggers would take quadratic time for n stories of one
 * column (see the trigger).
 */
export const disableStoryCountTriggers = (): Query<unknown> =>
  sql`select set_config('muster.counts', 'by hand', true)`;
