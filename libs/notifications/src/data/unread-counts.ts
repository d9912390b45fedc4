/** Unread counts of inboxes, for statements that write or mark many notifications. */
import { sql } from '@muster/driver';

/**
 * Disables the trigger that counts notifications until the end of the transaction. A statement with this
 * query among its common table expressions must update the counts itself. The trigger would count n
 * notifications of one member one by one, which costs O(n²).
 */
export const disableCountTrigger = sql.part`select set_config('muster.unread', 'by hand', true)`;
