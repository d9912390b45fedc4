/** Commands that list, release, transfer and limit the machines of a license. */
import { formatMinute, formatTable } from '@muster/terminal';
import { type Command } from 'commander';
import { machineIdProblem } from '../activation/machine.ts';
import { type MachineRecord } from '../api/records.ts';
import { setMachineLimit } from '../operators/change.ts';
import { getLicense, type License, stateOf } from '../operators/license.ts';
import {
  type MachineChoice,
  listHeldMachines,
  releaseMachines,
  transferLicense,
} from '../operators/machines.ts';
import { type Db, inTransaction, inReadOnlyTransaction, RefusedError } from '../operators/transaction.ts';
import { hasherOf } from './change.ts';
import {
  type LicenseCommand,
  numberOption,
  type CommandOptions,
  readLicenseRef,
  textOption,
  addIdOption,
} from './command.ts';
import { formatLicenseLines, formatMachineCount, licenseOutput } from './shown.ts';
import { parseCount, parseMachineLimit } from './term.ts';

const addSlotOption = (command: Command): Command =>
  command.option('--slot <number>', 'the slot of the machine, if several hold the license', parseCount);

const machineChoiceOf = (options: CommandOptions): Exclude<MachineChoice, { kind: 'all' }> => {
  const slot = numberOption(options, 'slot');
  return slot === undefined ? { kind: 'only' } : { kind: 'slot', slot };
};

const formatMachineLines = (license: License, machines: readonly MachineRecord[]): string[] => [
  `License …${license.hint} (${license.id}), ${stateOf(license)}: ${machines.length} of ${formatMachineCount(license.machineLimit)}`,
  ...(machines.length === 0
    ? []
    : formatTable(
        ['SLOT', 'MACHINE', 'SINCE', 'LAST SEEN', 'OFFLINE UNTIL'],
        machines.map(({ slot, hint, ...at }) => [
          String(slot),
          hint,
          formatMinute(at.boundAt),
          formatMinute(at.lastSeenAt),
          formatMinute(at.offlineUntil),
        ]),
      )),
];

const machinesCommand: LicenseCommand = {
  name: 'machines',
  description: 'List the machines of a license; --allow changes how many can hold it at the same time',
  configure: (command) =>
    addIdOption(command).option(
      '--allow <number>',
      'the new maximum number of machines; current machines keep the license',
      parseMachineLimit,
    ),
  run: async (context, options) => {
    const ref = await readLicenseRef(context, options);
    const allowed = numberOption(options, 'allow');
    const withHeldMachines = async (db: Db, license: License): Promise<[License, MachineRecord[]]> => [
      license,
      await listHeldMachines(db, license.id),
    ];
    const [license, machines] =
      allowed === undefined
        ? await inReadOnlyTransaction(context.pool, async (db) =>
            withHeldMachines(db, await getLicense(db, ref)),
          )
        : await inTransaction(context.pool, async (db) =>
            withHeldMachines(db, await setMachineLimit(db, ref, allowed)),
          );
    return {
      ...licenseOutput(license, formatMachineLines(license, machines)),
      json: { machineLimit: license.machineLimit, machines },
    };
  },
};

const canStillRunOffline = ({ offlineUntil }: MachineRecord): boolean =>
  offlineUntil !== null && new Date(offlineUntil).getTime() > Date.now();

const releaseCommand: LicenseCommand = {
  name: 'release',
  description: 'Release the license from its machine; the next machine that activates it gets it',
  configure: (command) => addSlotOption(addIdOption(command)).option('--all', 'from all of its machines'),
  run: async (context, options) => {
    const isAll = options['all'] === true;
    if (isAll && options['slot'] !== undefined) throw new RefusedError('choice', 'give --slot or --all');
    const ref = await readLicenseRef(context, options);
    const choice = isAll ? ({ kind: 'all' } as const) : machineChoiceOf(options);
    const { license, released } = await inTransaction(context.pool, (db) => releaseMachines(db, ref, choice));
    const warnings = released
      .filter(canStillRunOffline)
      .map(
        ({ offlineUntil }) =>
          `The old machine can run offline with its certificate until ${formatMinute(offlineUntil)}.`,
      );
    return licenseOutput(license, [...formatLicenseLines(license), ...warnings]);
  },
};

/** Returns the machine ID of --machine. Throws if it is invalid. */
export function machineIdOption(options: CommandOptions): string {
  const machineId = textOption(options, 'machine') ?? '';
  const problem = machineIdProblem(machineId);
  if (problem !== undefined) throw new RefusedError('machine', `--machine ${problem}`);
  return machineId;
}

const transferCommand: LicenseCommand = {
  name: 'transfer',
  description: "Transfer a license to another machine, within the plan's number of transfers",
  configure: (command) =>
    addSlotOption(addIdOption(command))
      .requiredOption('--machine <machineId>', 'the new machine’s id')
      .option('--force', "even beyond the plan's number of transfers"),
  run: async (context, options) => {
    const machineId = machineIdOption(options);
    const ref = await readLicenseRef(context, options);
    const hasher = await hasherOf(context);
    const isForced = options['force'] === true;
    const choice = machineChoiceOf(options);
    return licenseOutput(
      await inTransaction(context.pool, (db) =>
        transferLicense(db, ref, { machineId, hasher, isForced, choice }),
      ),
    );
  },
};

export const machineCommands = [machinesCommand, releaseCommand, transferCommand];
