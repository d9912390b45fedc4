/** The machines of a license, for operators: who holds it, taking it from them, giving it to another. */
import { hintOfMachine, type MachineHasher } from '../activation/machine.ts';
import { change } from './change.ts';
import { type License, type LicenseRef, lockLicense } from './license.ts';
import { type Ask, Refused } from './transaction.ts';

export interface Machine {
  readonly slot: number;
  readonly hint: string;
  readonly boundAt: string;
  readonly lastSeenAt: string | null;
  /** As long as any certificate that it was given still lives. */
  readonly offlineUntil: string | null;
}

/** Those that hold a slot now, in their order. */
export const heldMachines = (ask: Ask, licenseId: string): Promise<Machine[]> =>
  ask(
    `select slot, machine_hint as hint, bound_at as "boundAt", last_seen_at as "lastSeenAt",
       offline_until as "offlineUntil"
     from licenses.held_machines where license_id = $1 order by slot`,
    [licenseId],
  );

/** The slot that this machine holds; undefined where it holds none. */
export async function slotOf(
  ask: Ask,
  licenseId: string,
  machineHashes: readonly [Buffer, Buffer | null],
): Promise<number | undefined> {
  const [own] = await ask<{ slot: number }>(
    'select slot from licenses.held_machines where license_id = $1 and machine_hash in ($2, $3)',
    [licenseId, ...machineHashes],
  );
  return own?.slot;
}

/** Which of a license's machines is meant: the only one, that of a slot, or all. */
export type Choice =
  | { readonly kind: 'only' }
  | { readonly kind: 'slot'; readonly slot: number }
  | { readonly kind: 'all' };

function chosen(machines: readonly Machine[], choice: Choice): readonly Machine[] {
  if (choice.kind === 'all') return machines;
  if (choice.kind === 'slot') {
    const machine = machines.find(({ slot }) => slot === choice.slot);
    if (machine !== undefined) return [machine];
    throw new Refused('free_slot', `no machine holds slot ${choice.slot} of this license`);
  }
  if (machines.length <= 1) return machines;
  throw new Refused(
    'several_machines',
    `${machines.length} machines hold this license: say which one with --slot (license machines lists them)`,
  );
}

/** Takes it from its machine, beside the plan's transfers. The next machine that asks has it. */
export async function release(
  ask: Ask,
  ref: LicenseRef,
  choice: Choice = { kind: 'only' },
): Promise<{ license: License; released: readonly Machine[] }> {
  let license = await lockLicense(ask, ref);
  const released = chosen(await heldMachines(ask, license.id), choice);
  for (const { slot, hint, offlineUntil } of released) {
    await ask('select licenses.free_slot($1, $2, clock_timestamp())', [license.id, slot]);
    const data = { machineHint: hint, offlineUntil };
    license = await change(ask, license, 'released', { set: 'epoch = epoch + 1', values: [], data });
  }
  return { license, released };
}

export interface Transfer {
  readonly machineId: string;
  readonly hasher: MachineHasher;
  readonly isForced: boolean;
  /** Whose slot it gets; there may be but one unless said. */
  readonly choice?: Exclude<Choice, { readonly kind: 'all' }>;
}

/** Gives it to another machine, which need not ask first. Counts as one of the plan's transfers. */
export async function transfer(
  ask: Ask,
  ref: LicenseRef,
  { machineId, hasher, isForced, choice = { kind: 'only' } }: Transfer,
): Promise<License> {
  const license = await lockLicense(ask, ref);
  const machines = await heldMachines(ask, license.id);
  if (machines.length === 0) {
    throw new Refused('not_activated', 'no machine has this license; the next one that asks gets it');
  }
  const hashes = hasher.hashes(machineId);
  // It has the license: nothing to change, and nothing to pay.
  if ((await slotOf(ask, license.id, hashes)) !== undefined) return license;
  const [before] = chosen(machines, choice);
  if (before === undefined) throw new Error('a machine that holds the license is not there');
  if (license.transfers >= license.transferLimit && !isForced) {
    throw new Refused(
      'transfers_exhausted',
      `it was moved ${license.transfers} times, as often as its plan allows (--force moves it all the same)`,
    );
  }
  const hint = hintOfMachine(machineId);
  const { slot } = before;
  await ask(
    'delete from licenses.license_machines where license_id = $1 and (slot = $2 or machine_hash in ($3, $4))',
    [license.id, slot, ...hashes],
  );
  await ask(
    `insert into licenses.license_machines (license_id, slot, machine_hash, pepper_id, machine_hint, bound_at,
       offline_until)
     values ($1, $2, $3, $4, $5, clock_timestamp(), clock_timestamp() + make_interval(secs => $6))`,
    // What is lent is lent to it once, whether it comes or not.
    [license.id, slot, hashes[0], hasher.pepperId, hint, license.leaseSeconds],
  );
  return change(ask, license, 'transferred', {
    set: 'epoch = epoch + 1, transfers = transfers + 1',
    values: [],
    data: { from: before.hint, to: hint, offlineUntil: before.offlineUntil },
  });
}
