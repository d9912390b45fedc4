/**
 * Signed addresses of files. An upload and a download need no token: the address says until when it is valid, and its
 * signature proves that Muster issued it. The key is derived from the organization's key.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

export const fileMethods = ['GET', 'PUT'] as const;
export type FileMethod = (typeof fileMethods)[number];

export const downloadSeconds = 5 * 60;
/** A trigger of the database (functions/attachments.sql) waits for longer than this before it deletes a file. */
export const uploadSeconds = 60 * 60;

/** The file of an address, and until when the address is valid, in milliseconds since 1970. */
export interface FileAddress {
  readonly method: FileMethod;
  readonly orgId: string;
  readonly attachmentId: string;
  readonly expiresAtMillis: number;
}

function sign(organizationKey: Buffer, address: FileAddress): Buffer {
  const { method, orgId, attachmentId, expiresAtMillis } = address;
  const text = ['muster file', method, orgId, attachmentId, expiresAtMillis].join('\n');
  return createHmac('sha256', organizationKey).update(text).digest();
}

export const filesPath = '/files';

/** Returns the path of a file with its signature. */
export function signedPath(organizationKey: Buffer, address: FileAddress): string {
  const signature = sign(organizationKey, address).toString('base64url');
  return `${filesPath}/${address.orgId}/${address.attachmentId}?expires=${address.expiresAtMillis}&signature=${signature}`;
}

/** Returns true if the signature is valid and the address has not expired. */
export function isValidSignature(
  organizationKey: Buffer,
  address: FileAddress,
  signature: string,
  nowMillis: number,
): boolean {
  const given = Buffer.from(signature, 'base64url');
  const expected = sign(organizationKey, address);
  return (
    address.expiresAtMillis >= nowMillis &&
    given.length === expected.length &&
    timingSafeEqual(given, expected)
  );
}
