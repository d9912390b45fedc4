/** Who may have an account here. */
import { type SignInDb } from '@muster/placement';
import { findAccount, findAddress } from '../data/accounts.ts';
import { type Config } from '../config.ts';

/** Whether an address may sign in at all: one that has an account, a member's, and as SIGN_UP says others. */
export async function mayEnter(db: SignInDb, signUp: Config['SIGN_UP'], email: string): Promise<boolean> {
  if (signUp === 'open' || (await findAccount(db, email)) !== undefined) return true;
  const { memberName, isInvited } = await findAddress(db, email);
  return memberName !== null || (isInvited && signUp === 'invited');
}
