/** A customer gives up a machine by the page, as the machine itself could: within the plan's transfers. */
import { newId } from '@muster/database';
import { refusals } from '../activation/answers.ts';
import { getLicense, type License, lockLicense, stateOf } from '../operators/license.ts';
import { heldMachines } from '../operators/machines.ts';
import { type Ask, Refused } from '../operators/transaction.ts';

export async function releaseByCustomer(
  ask: Ask,
  id: string,
  slot: number,
): Promise<{ license: License; offlineUntil: string | null }> {
  const license = await lockLicense(ask, { id });
  const state = stateOf(license);
  if (state === 'expired' || state === 'suspended' || state === 'revoked') throw refusals[state]();
  const machine = (await heldMachines(ask, id)).find((one) => one.slot === slot);
  if (machine === undefined) throw new Refused('free_slot', 'this machine was released before');
  const isLent = license.leaseSeconds !== null;
  if (!isLent && license.transfers >= license.transferLimit)
    throw new Refused('transfers_exhausted', 'this license was moved as often as its plan allows');
  await ask('select licenses.free_slot($1, $2, clock_timestamp())', [id, slot]);
  await ask(
    `update licenses.licenses set epoch = epoch + 1, transfers = transfers + $2, updated_at = clock_timestamp()
     where id = $1`,
    [id, isLent ? 0 : 1],
  );
  const after = await getLicense(ask, { id });
  const data = { machineHint: machine.hint, transfers: after.transfers, offlineUntil: machine.offlineUntil };
  await ask(
    `insert into licenses.license_events (id, license_id, kind, actor, epoch, data)
     values ($1, $2, 'released', 'customer', $3, $4)`,
    [newId(), id, after.epoch, data],
  );
  return { license: after, offlineUntil: machine.offlineUntil };
}
