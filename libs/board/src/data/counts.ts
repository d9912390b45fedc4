/** The counts of stories, for those who write many at once. */
import { type Query, sql } from '@muster/driver';

/**
 * From here to the end of the transaction nothing counts stories: who says so writes the counts of columns, epics
 * and canceled stories itself. Counted one by one, n stories of one column cost n² (see the trigger).
 */
export const countByHand = (): Query<unknown> => sql`select set_config('muster.counts', 'by hand', true)`;
