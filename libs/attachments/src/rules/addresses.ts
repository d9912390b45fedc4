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

const signText = (organizationKey: Buffer, parts: readonly (string | number)[]): Buffer =>
  createHmac('sha256', organizationKey).update(parts.join('\n')).digest();

function sign(organizationKey: Buffer, address: FileAddress): Buffer {
  const { method, orgId, attachmentId, expiresAtMillis } = address;
  return signText(organizationKey, ['muster file', method, orgId, attachmentId, expiresAtMillis]);
}

function isSameSignature(signature: string, expected: Buffer): boolean {
  const given = Buffer.from(signature, 'base64url');
  return given.length === expected.length && timingSafeEqual(given, expected);
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
  return address.expiresAtMillis >= nowMillis && isSameSignature(signature, sign(organizationKey, address));
}

/** An export's archive, and until when its address is valid. */
export interface ExportAddress {
  readonly orgId: string;
  readonly exportId: string;
  readonly expiresAtMillis: number;
}

const signExport = (organizationKey: Buffer, { orgId, exportId, expiresAtMillis }: ExportAddress): Buffer =>
  signText(organizationKey, ['muster export', orgId, exportId, expiresAtMillis]);

/** Returns the path of an export's archive with its signature. */
export function signedExportPath(organizationKey: Buffer, address: ExportAddress): string {
  const { orgId, exportId, expiresAtMillis } = address;
  const signature = signExport(organizationKey, address).toString('base64url');
  return `${filesPath}/${orgId}/exports/${exportId}?expires=${expiresAtMillis}&signature=${signature}`;
}

/** Returns true if the signature of an archive's address is valid and the address has not expired. */
export const isValidExportSignature = (
  organizationKey: Buffer,
  address: ExportAddress,
  signature: string,
  nowMillis: number,
): boolean =>
  address.expiresAtMillis >= nowMillis && isSameSignature(signature, signExport(organizationKey, address));
