/** Lists, releases and transfers the machines of a license for operators. */
import { sql } from '@muster/driver';
import { machineHintOf, type MachineHasher } from '../activation/machine.ts';
import { type MachineRecord } from '../api/records.ts';
import { updateLicense } from './change.ts';
import { type License, type LicenseRef, lockLicense } from './license.ts';
import { type Db, RefusedError } from './transaction.ts';

/** Lists the machines that hold a slot, in the order of their slots. */
export const listHeldMachines = (db: Db, licenseId: string): Promise<MachineRecord[]> =>
  db.all(sql<MachineRecord>`select slot, machine_hint as hint, bound_at as "boundAt", last_seen_at as "lastSeenAt",
       offline_until as "offlineUntil"
     from licenses.held_machines where license_id = ${licenseId} order by slot`);

/** Returns the slot of this machine; undefined if it has none. */
export async function findMachineSlot(
  db: Db,
  licenseId: string,
  machineHashes: readonly [Buffer, Buffer | null],
): Promise<number | undefined> {
  const [current, previous] = machineHashes;
  const own = await db.find(
    sql<{ slot: number }>`select slot from licenses.held_machines
      where license_id = ${licenseId} and machine_hash in (${current}, ${previous})`,
  );
  return own?.slot;
}

/** A choice among the machines of a license: the only machine, the machine in a slot, or all. */
export type MachineChoice =
  | { readonly kind: 'only' }
  | { readonly kind: 'slot'; readonly slot: number }
  | { readonly kind: 'all' };

function selectMachines(machines: readonly MachineRecord[], choice: MachineChoice): readonly MachineRecord[] {
  if (choice.kind === 'all') return machines;
  if (choice.kind === 'slot') {
    const machine = machines.find(({ slot }) => slot === choice.slot);
    if (machine !== undefined) return [machine];
    throw new RefusedError('free_slot', `no machine holds slot ${choice.slot} of this license`);
  }
  if (machines.length <= 1) return machines;
  throw new RefusedError(
    'several_machines',
    `${machines.length} machines hold this license: choose one with --slot (license machines lists them)`,
  );
}

/** Releases the chosen machines. This does not count as a transfer. The next machine that asks gets the slot. */
export async function releaseMachines(
  db: Db,
  ref: LicenseRef,
  choice: MachineChoice = { kind: 'only' },
): Promise<{ license: License; released: readonly MachineRecord[] }> {
  let license = await lockLicense(db, ref);
  const released = selectMachines(await listHeldMachines(db, license.id), choice);
  for (const { slot, hint, offlineUntil } of released) {
    await db.all(sql`select licenses.free_slot(${license.id}, ${slot}, clock_timestamp())`);
    const data = { machineHint: hint, offlineUntil };
    license = await updateLicense(db, license, 'released', { set: sql`epoch = epoch + 1`, data });
  }
  return { license, released };
}

export interface TransferOptions {
  readonly machineId: string;
  readonly hasher: MachineHasher;
  readonly isForced: boolean;
  /** The machine to replace. Without a choice, the license must have at most one machine. */
  readonly choice?: Exclude<MachineChoice, { readonly kind: 'all' }>;
}

/**
 * Moves the slot of a machine to another machine. The other machine need not have asked for it. Counts
 * against the transfer limit.
 */
export async function transferLicense(
  db: Db,
  ref: LicenseRef,
  { machineId, hasher, isForced, choice = { kind: 'only' } }: TransferOptions,
): Promise<License> {
  const license = await lockLicense(db, ref);
  const machines = await listHeldMachines(db, license.id);
  if (machines.length === 0)
    throw new RefusedError(
      'not_activated',
      'no machine holds this license; the next machine that activates it gets it',
    );
  const hashes = hasher.hashes(machineId);
  // The machine already holds the license, so nothing changes and no transfer is counted.
  if ((await findMachineSlot(db, license.id, hashes)) !== undefined) return license;
  const [before] = selectMachines(machines, choice);
  if (before === undefined) throw new Error('a machine that holds the license is not there');
  if (license.transfers >= license.transferLimit && !isForced)
    throw new RefusedError(
      'transfers_exhausted',
      `it was transferred ${license.transfers} times, the maximum of its plan (use --force to transfer it anyway)`,
    );
  const hint = machineHintOf(machineId);
  const { slot } = before;
  await db.all(
    sql`delete from licenses.license_machines
      where license_id = ${license.id} and (slot = ${slot} or machine_hash in (${hashes[0]}, ${hashes[1]}))`,
  );
  // On a license with leased slots, the new machine gets the slot for one lease period, even if the machine
  // never calls.
  await db.all(
    sql`insert into licenses.license_machines
        (license_id, slot, machine_hash, pepper_id, machine_hint, bound_at, offline_until)
      values (${license.id}, ${slot}, ${hashes[0]}, ${hasher.pepperId}, ${hint}, clock_timestamp(),
        clock_timestamp() + make_interval(secs => ${license.leaseSeconds}))`,
  );
  return updateLicense(db, license, 'transferred', {
    set: sql`epoch = epoch + 1, transfers = transfers + 1`,
    data: { from: before.hint, to: hint, offlineUntil: before.offlineUntil },
  });
}
