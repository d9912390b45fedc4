/** Decides who may have an account. */
import { type SignInDb } from '@muster/placement';
import { findAccount, findAddress } from '../data/accounts.ts';
import { type SignInConfig } from '../config.ts';

/** Returns true if an address may sign in: it has an account or belongs to a member, or SIGN_UP allows it. */
export async function mayHaveAccount(
  db: SignInDb,
  signUp: SignInConfig['SIGN_UP'],
  email: string,
): Promise<boolean> {
  if (signUp === 'open' || (await findAccount(db, email)) !== undefined) return true;
  const { memberName, isInvited } = await findAddress(db, email);
  return memberName !== null || (isInvited && signUp === 'invited');
}
