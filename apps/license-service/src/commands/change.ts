/** What changes one license, named by its id or by the key on standard input. */
import { minuteOf } from '@muster/terminal';
import { createMachineHasher, machineIdProblem, type MachineHasher } from '../activation/machine.ts';
import { release, renew, resume, revoke, rotate, suspend, transfer } from '../operators/change.ts';
import { type License, type LicenseRef } from '../operators/license.ts';
import { type Ask, inTransaction, Refused } from '../operators/transaction.ts';
import { type Context, type LicenseCommand, type Options, refOf, text, withId } from './command.ts';
import { licenseLines, shownLicense } from './shown.ts';
import { termOf, withTerm } from './term.ts';

type Change = (ask: Ask, ref: LicenseRef, options: Options) => Promise<License>;

const command = (
  name: string,
  description: string,
  change: Change,
  shape: LicenseCommand['shape'] = (it) => it,
): LicenseCommand => ({
  name,
  description,
  shape: (it) => shape(withId(it)),
  run: async (context, options) => {
    const ref = await refOf(context, options);
    return shownLicense(await inTransaction(context.pool, (ask) => change(ask, ref, options)));
  },
});

const reasonOf = (options: Options): string | null => text(options, 'reason') ?? null;

export const suspendCommand = command(
  'suspend',
  'Refuse it until it is resumed',
  (ask, ref, options) => suspend(ask, ref, reasonOf(options)),
  (it) => it.option('--reason <text>', 'why, for operators to read'),
);

export const resumeCommand = command('resume', 'Let a suspended license go on', resume);

export const revokeCommand = command(
  'revoke',
  'Refuse it for good',
  (ask, ref, options) => revoke(ask, ref, reasonOf(options)),
  (it) => it.option('--reason <text>', 'why, for operators to read'),
);

export const releaseCommand: LicenseCommand = {
  ...command('release', 'Take it from its machine; the next one that asks gets it', release),
  run: async (context, options) => {
    const ref = await refOf(context, options);
    const license = await inTransaction(context.pool, (ask) => release(ask, ref));
    const until = license.offlineUntil;
    const isAlive = until !== null && new Date(until).getTime() > Date.now();
    const warning = isAlive
      ? [`Its certificate lets the old machine run offline until ${minuteOf(until)}.`]
      : [];
    return shownLicense(license, [...licenseLines(license), ...warning]);
  },
};

export const renewCommand = command(
  'renew',
  'Give it another end: so much longer, a day, or none',
  (ask, ref, options) => {
    const term = termOf(options);
    if (term === undefined) throw new Refused('no_term', 'say --for, --expires or --perpetual');
    return renew(ask, ref, term);
  },
  withTerm,
);

export const hasherOf = async ({ secrets }: Pick<Context, 'secrets'>): Promise<MachineHasher> => {
  const { pepper, pepperBefore } = await secrets();
  return createMachineHasher(pepper, pepperBefore);
};

/** The machine that --machine names. Throws where it is no machine's id. */
export function machineOf(options: Options): string {
  const machineId = text(options, 'machine') ?? '';
  const problem = machineIdProblem(machineId);
  if (problem !== undefined) throw new Refused('machine', `--machine ${problem}`);
  return machineId;
}

export const transferCommand: LicenseCommand = {
  name: 'transfer',
  description: 'Give it to another machine, within its plan’s transfers',
  shape: (it) =>
    withId(it)
      .requiredOption('--machine <machineId>', 'the new machine’s id')
      .option('--force', 'beyond what the plan allows'),
  run: async (context, options) => {
    const machineId = machineOf(options);
    const ref = await refOf(context, options);
    const hasher = await hasherOf(context);
    const isForced = options['force'] === true;
    return shownLicense(
      await inTransaction(context.pool, (ask) => transfer(ask, ref, { machineId, hasher, isForced })),
    );
  },
};

export const rotateCommand: LicenseCommand = {
  name: 'rotate',
  description: 'Make another key for it; the old one is unknown from now on',
  shape: withId,
  run: async (context, options) => {
    const ref = await refOf(context, options);
    const { license, key } = await inTransaction(context.pool, (ask) => rotate(ask, ref));
    return {
      json: { license, key },
      lines: [`License ${license.id} has another key. Copy it now, it is not shown again:`, key],
    };
  },
};
