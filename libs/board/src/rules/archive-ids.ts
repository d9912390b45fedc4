/** The ids of records that are imported from an archive of another installation. */
import { randomBytes } from 'node:crypto';
import { isUuid } from '@muster/contract';

/** The hexadecimal digits of a UUIDv7 that order it: its time and the counter within a millisecond. */
const orderingDigits = 22;

/**
 * Returns a new id for a record of an archive. It sorts like the old one, so lists that are ordered by id keep their
 * order.
 */
export function createIdLike(archiveId: string): string {
  const digits = archiveId.replaceAll('-', '').slice(0, orderingDigits) + randomBytes(5).toString('hex');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Collects all ids in a value, at any depth. */
export function collectIds(value: unknown, ids: Set<string> = new Set()): Set<string> {
  if (typeof value === 'string') {
    if (isUuid(value)) ids.add(value);
  } else if (typeof value === 'object' && value !== null)
    for (const part of Object.values(value)) collectIds(part, ids);
  return ids;
}
