/** The e-mail about a passkey that an operation removed. It goes to the address of the person's account. */
import { type Db, sql } from '@muster/driver';
import { type PasskeyMail, renderPasskeyMail } from '../rules/passkey-mail.ts';

/** The payload of the job, and the public URL of Muster. */
export interface RemovedPasskey {
  readonly memberId: string;
  readonly name: string;
  readonly baseUrl: string;
}

/** Prepares the e-mail about a removed passkey. Returns null if the member was removed. */
export async function preparePasskeyMail(
  db: Db,
  { memberId, name, baseUrl }: RemovedPasskey,
): Promise<PasskeyMail | null> {
  const { to } = await db.one(
    sql<{ to: string | null }>`select app.address_of_account(${memberId}::uuid) as to`,
  );
  return to === null
    ? null
    : renderPasskeyMail({ to, change: 'removed', name, baseUrl: baseUrl.replace(/\/+$/, '') });
}
