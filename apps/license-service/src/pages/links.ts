/** Links for the mail of a purchase. With one, a customer sees and releases the machines of a license. */
import { sql } from '@muster/driver';
import { type Db, RefusedError } from '../operators/transaction.ts';
import { type License, getLicense } from '../operators/license.ts';
import { isValidSealedToken, unverifiedSubjectOf, createSealedToken } from './seals.ts';

export const defaultLinkSeconds = 365 * 86_400;
export const maxLinkSeconds = 5 * 365 * 86_400;

const keyHashOfLicense = async (db: Db, id: string): Promise<string | undefined> => {
  const row = await db.find(
    sql<{ hash: string }>`select encode(key_hash, 'hex') as hash from licenses.licenses where id = ${id}`,
  );
  return row?.hash;
};

const shortenId = (id: string): string => Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url');
const expandId = (shortId: string): string =>
  Buffer.from(shortId, 'base64url')
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

/** Makes the path of the page of a license. A new key for the license invalidates it. */
export async function createCustomerLink(
  db: Db,
  secrets: readonly (string | Buffer)[],
  id: string,
  validSeconds: number,
): Promise<string> {
  const boundTo = await keyHashOfLicense(db, id);
  const untilSeconds = Math.floor(Date.now() / 1_000) + validSeconds;
  return `/my/${createSealedToken(secrets, { what: shortenId(id), untilSeconds, ...(boundTo !== undefined && { boundTo }) })}`;
}

/** Throws Refused if the link is not genuine or has expired. */
export async function licenseOfLink(
  db: Db,
  secrets: readonly (string | Buffer)[],
  link: string,
): Promise<License> {
  const id = expandId(unverifiedSubjectOf(link));
  const isId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id);
  const boundTo = isId ? await keyHashOfLicense(db, id) : undefined;
  if (boundTo === undefined || !isValidSealedToken(secrets, link, boundTo))
    throw new RefusedError(
      'link_over',
      'this link has expired or is incomplete; ask the seller for a new one',
    );
  return getLicense(db, { id });
}
