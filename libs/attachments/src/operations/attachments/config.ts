/** The settings of the installation that the handlers of attachments need. */
import { type Db } from '@muster/driver';
import { type Caller } from '@muster/runtime';
import { getOrganizationKey } from '@muster/tenancy';
import { type DownloadSigning } from '../../data/attachments.ts';

export interface AttachmentsConfig {
  /** The public URL of the API, without a slash at the end. */
  readonly baseUrl: string;
  /** The maximum number of bytes that the attachments of an organization may have together. */
  readonly maxBytesPerOrganization: number;
}

export const defaultAttachmentsConfig: AttachmentsConfig = {
  baseUrl: 'http://127.0.0.1:4100',
  maxBytesPerOrganization: 10 * 1024 ** 3,
};

interface SigningContext {
  readonly db: Db;
  readonly caller: Pick<Caller, 'orgId'>;
  readonly access: () => Promise<{ readonly at: string }>;
}

/** Reads what the download addresses of this call are signed with. */
export async function readSigning(
  { db, caller, access }: SigningContext,
  { baseUrl }: AttachmentsConfig,
): Promise<DownloadSigning> {
  const [organizationKey, { at }] = await Promise.all([getOrganizationKey(db), access()]);
  return { baseUrl, orgId: caller.orgId, organizationKey, signedAt: at };
}
