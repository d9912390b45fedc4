/** Releases a machine on request of a customer. The transfer limit is the one for releases by the machine itself. */
import { sql } from '@muster/driver';
import { refusalsByState } from '../activation/answers.ts';
import { updateLicense } from '../operators/change.ts';
import { type License, lockLicense, stateOf } from '../operators/license.ts';
import { listHeldMachines } from '../operators/machines.ts';
import { type Db, RefusedError } from '../operators/transaction.ts';

export async function releaseByCustomer(
  db: Db,
  id: string,
  slot: number,
): Promise<{ license: License; offlineUntil: string | null }> {
  const license = await lockLicense(db, { id });
  const state = stateOf(license);
  if (state === 'expired' || state === 'suspended' || state === 'revoked') throw refusalsByState[state]();
  const machine = (await listHeldMachines(db, id)).find((one) => one.slot === slot);
  if (machine === undefined) throw new RefusedError('free_slot', 'this machine was already released');
  const isLent = license.leaseSeconds !== null;
  if (!isLent && license.transfers >= license.transferLimit)
    throw new RefusedError(
      'transfers_exhausted',
      'this license has reached the number of machine changes that its plan allows',
    );
  await db.all(sql`select licenses.free_slot(${id}, ${slot}, clock_timestamp())`);
  const spent = isLent ? 0 : 1;
  const { hint: machineHint, offlineUntil } = machine;
  const after = await updateLicense(db, license, 'released', {
    set: sql`epoch = epoch + 1, transfers = transfers + ${spent}`,
    data: { machineHint, transfers: license.transfers + spent, offlineUntil },
    actor: 'customer',
  });
  return { license: after, offlineUntil };
}
