/** Commands that change one license, given by its ID or by the key on standard input. */
import { createMachineHasher, type MachineHasher } from '../activation/machine.ts';
import {
  renewLicense,
  resumeLicense,
  revokeLicense,
  replaceKey,
  suspendLicense,
} from '../operators/change.ts';
import { type License, type LicenseRef } from '../operators/license.ts';
import { type Db, inTransaction, RefusedError } from '../operators/transaction.ts';
import {
  type CommandContext,
  type LicenseCommand,
  type CommandOptions,
  readLicenseRef,
  textOption,
  addIdOption,
} from './command.ts';
import { licenseOutput } from './shown.ts';
import { termOptions, addTermOptions } from './term.ts';

type LicenseChange = (db: Db, ref: LicenseRef, options: CommandOptions) => Promise<License>;

const defineChangeCommand = (
  name: string,
  description: string,
  change: LicenseChange,
  addOptions: LicenseCommand['configure'] = (it) => it,
): LicenseCommand => ({
  name,
  description,
  configure: (it) => addOptions(addIdOption(it)),
  run: async (context, options) => {
    const ref = await readLicenseRef(context, options);
    return licenseOutput(await inTransaction(context.pool, (db) => change(db, ref, options)));
  },
});

const reasonOf = (options: CommandOptions): string | null => textOption(options, 'reason') ?? null;

const suspendCommand = defineChangeCommand(
  'suspend',
  'Suspend a license until it is resumed',
  (db, ref, options) => suspendLicense(db, ref, reasonOf(options)),
  (it) => it.option('--reason <text>', 'the reason, for operators'),
);

const resumeCommand = defineChangeCommand('resume', 'Resume a suspended license', resumeLicense);

const revokeCommand = defineChangeCommand(
  'revoke',
  'Revoke a license for good',
  (db, ref, options) => revokeLicense(db, ref, reasonOf(options)),
  (it) => it.option('--reason <text>', 'the reason, for operators'),
);

const renewCommand = defineChangeCommand(
  'renew',
  'Change the end of a license: extend it, set a date, or remove the end',
  (db, ref, options) => {
    const term = termOptions(options);
    if (term === undefined) throw new RefusedError('no_term', 'give --for, --expires or --perpetual');
    return renewLicense(db, ref, term);
  },
  addTermOptions,
);

export const hasherOf = async ({ secrets }: Pick<CommandContext, 'secrets'>): Promise<MachineHasher> => {
  const { pepper, pepperBefore } = await secrets();
  return createMachineHasher(pepper, pepperBefore);
};

const rotateCommand: LicenseCommand = {
  name: 'rotate',
  description: 'Create a new key for a license; the old key stops working',
  configure: addIdOption,
  run: async (context, options) => {
    const ref = await readLicenseRef(context, options);
    const { license, key } = await inTransaction(context.pool, (db) => replaceKey(db, ref));
    return {
      json: { license, key },
      lines: [`License ${license.id} has a new key. Copy it now; it will not be shown again:`, key],
    };
  },
};

export const changeCommands = [suspendCommand, resumeCommand, revokeCommand, renewCommand, rotateCommand];
