/** The e-mail about a passkey that was removed by an operation, to the address of its person's account. */
import { type Db, sql } from '@muster/driver';
import { type PasskeyMail, passkeyMail } from '../rules/passkey-mail.ts';

/** What the job says of it, and where people reach Muster. */
export interface RemovedPasskey {
  readonly memberId: string;
  readonly name: string;
  readonly baseUrl: string;
}

/** Null where the member is none any more. */
export async function preparePasskeyMail(
  db: Db,
  { memberId, name, baseUrl }: RemovedPasskey,
): Promise<PasskeyMail | null> {
  const { to } = await db.one(
    sql<{ to: string | null }>`select app.address_of_account(${memberId}::uuid) as to`,
  );
  return to === null
    ? null
    : passkeyMail({ to, change: 'removed', name, baseUrl: baseUrl.replace(/\/+$/, '') });
}
