/** Unread counts of inboxes, for statements that write or mark many notifications. */
import { sql } from '@muster/driver';

/**
 * Disables the trigger that counts notifications until the end of the transaction. A statement that has this
 * among its common table expressions must update the counts itself. Counting n notifications of one member
 * one by one costs O(n²) (see the trigger).
 */
export const countsByHand = sql.part`select set_config('muster.unread', 'by hand', true)`;
