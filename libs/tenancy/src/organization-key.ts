/**
 * Reads the key that decrypts the organization's secrets. It is half of that key if the installation has a
 * key of its own.
 */
import { type Db, orgFilter, sql } from '@muster/driver';

export const getOrganizationKey = async (db: Db): Promise<Buffer> =>
  (await db.one(sql<{ key: Buffer }>`select s.cursor_key as key from streams s where ${orgFilter('s')}`)).key;
