/** The counts of inboxes, for statements that write or mark many notifications. */
import { sql } from '@muster/driver';

/**
 * From this statement to the end of the transaction no trigger counts notifications: a statement with it among its
 * common table expressions writes the counts itself. Counted one by one, n that one member reads cost n² (see the trigger).
 */
export const countsByHand = sql.part`select set_config('muster.unread', 'by hand', true)`;
