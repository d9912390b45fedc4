/** Commands that list, release, transfer and limit the machines of a license. */
import { minuteOf, table } from '@muster/terminal';
import { type Command } from 'commander';
import { machineIdProblem } from '../activation/machine.ts';
import { resize } from '../operators/change.ts';
import { getLicense, type License, stateOf } from '../operators/license.ts';
import { type MachineChoice, heldMachines, type Machine, release, transfer } from '../operators/machines.ts';
import { type Db, inTransaction, reading, Refused } from '../operators/transaction.ts';
import { hasherOf } from './change.ts';
import { type LicenseCommand, number, type Options, refOf, text, withId } from './command.ts';
import { licenseLines, machinesWords, shownLicense } from './shown.ts';
import { toCount, toMachines } from './term.ts';

const withSlot = (command: Command): Command =>
  command.option('--slot <number>', 'the slot of the machine, if several hold the license', toCount);

const choiceOf = (options: Options): Exclude<MachineChoice, { kind: 'all' }> => {
  const slot = number(options, 'slot');
  return slot === undefined ? { kind: 'only' } : { kind: 'slot', slot };
};

const machineLines = (license: License, machines: readonly Machine[]): string[] => [
  `License …${license.hint} (${license.id}), ${stateOf(license)}: ${machines.length} of ${machinesWords(license.machineLimit)}`,
  ...(machines.length === 0
    ? []
    : table(
        ['SLOT', 'MACHINE', 'SINCE', 'LAST SEEN', 'OFFLINE UNTIL'],
        machines.map(({ slot, hint, ...at }) => [
          ...[String(slot), hint, minuteOf(at.boundAt), minuteOf(at.lastSeenAt), minuteOf(at.offlineUntil)],
        ]),
      )),
];

export const machinesCommand: LicenseCommand = {
  name: 'machines',
  description: 'List the machines of a license; --allow changes how many can hold it at the same time',
  shape: (command) =>
    withId(command).option(
      '--allow <number>',
      'the new maximum number of machines; current machines keep the license',
      toMachines,
    ),
  run: async (context, options) => {
    const ref = await refOf(context, options);
    const allowed = number(options, 'allow');
    const look = async (db: Db, license: License): Promise<[License, Machine[]]> => [
      license,
      await heldMachines(db, license.id),
    ];
    const [license, machines] =
      allowed === undefined
        ? await reading(context.pool, async (db) => look(db, await getLicense(db, ref)))
        : await inTransaction(context.pool, async (db) => look(db, await resize(db, ref, allowed)));
    return {
      ...shownLicense(license, machineLines(license, machines)),
      json: { machineLimit: license.machineLimit, machines },
    };
  },
};

const stillAlive = ({ offlineUntil }: Machine): boolean =>
  offlineUntil !== null && new Date(offlineUntil).getTime() > Date.now();

export const releaseCommand: LicenseCommand = {
  name: 'release',
  description: 'Release the license from its machine; the next machine that activates it gets it',
  shape: (command) => withSlot(withId(command)).option('--all', 'from all of its machines'),
  run: async (context, options) => {
    const isAll = options['all'] === true;
    if (isAll && options['slot'] !== undefined) throw new Refused('choice', 'give --slot or --all');
    const ref = await refOf(context, options);
    const choice = isAll ? ({ kind: 'all' } as const) : choiceOf(options);
    const { license, released } = await inTransaction(context.pool, (db) => release(db, ref, choice));
    const warnings = released
      .filter(stillAlive)
      .map(
        ({ offlineUntil }) =>
          `The old machine can run offline with its certificate until ${minuteOf(offlineUntil)}.`,
      );
    return shownLicense(license, [...licenseLines(license), ...warnings]);
  },
};

/** Returns the machine ID of --machine. Throws if it is invalid. */
export function machineOf(options: Options): string {
  const machineId = text(options, 'machine') ?? '';
  const problem = machineIdProblem(machineId);
  if (problem !== undefined) throw new Refused('machine', `--machine ${problem}`);
  return machineId;
}

export const transferCommand: LicenseCommand = {
  name: 'transfer',
  description: "Transfer a license to another machine, within the plan's number of transfers",
  shape: (command) =>
    withSlot(withId(command))
      .requiredOption('--machine <machineId>', 'the new machine’s id')
      .option('--force', "even beyond the plan's number of transfers"),
  run: async (context, options) => {
    const machineId = machineOf(options);
    const ref = await refOf(context, options);
    const hasher = await hasherOf(context);
    const isForced = options['force'] === true;
    const choice = choiceOf(options);
    return shownLicense(
      await inTransaction(context.pool, (db) => transfer(db, ref, { machineId, hasher, isForced, choice })),
    );
  },
};
