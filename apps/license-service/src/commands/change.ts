/** Commands that change one license, given by its ID or by the key on standard input. */
import { createMachineHasher, type MachineHasher } from '../activation/machine.ts';
import { renew, resume, revoke, rotate, suspend } from '../operators/change.ts';
import { type License, type LicenseRef } from '../operators/license.ts';
import { type Db, inTransaction, Refused } from '../operators/transaction.ts';
import { type Context, type LicenseCommand, type Options, refOf, text, withId } from './command.ts';
import { shownLicense } from './shown.ts';
import { termOf, withTerm } from './term.ts';

type Change = (db: Db, ref: LicenseRef, options: Options) => Promise<License>;

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
    return shownLicense(await inTransaction(context.pool, (db) => change(db, ref, options)));
  },
});

const reasonOf = (options: Options): string | null => text(options, 'reason') ?? null;

export const suspendCommand = command(
  'suspend',
  'Suspend a license until it is resumed',
  (db, ref, options) => suspend(db, ref, reasonOf(options)),
  (it) => it.option('--reason <text>', 'the reason, for operators'),
);

export const resumeCommand = command('resume', 'Resume a suspended license', resume);

export const revokeCommand = command(
  'revoke',
  'Revoke a license for good',
  (db, ref, options) => revoke(db, ref, reasonOf(options)),
  (it) => it.option('--reason <text>', 'the reason, for operators'),
);

export const renewCommand = command(
  'renew',
  'Change the end of a license: extend it, set a date, or remove the end',
  (db, ref, options) => {
    const term = termOf(options);
    if (term === undefined) throw new Refused('no_term', 'give --for, --expires or --perpetual');
    return renew(db, ref, term);
  },
  withTerm,
);

export const hasherOf = async ({ secrets }: Pick<Context, 'secrets'>): Promise<MachineHasher> => {
  const { pepper, pepperBefore } = await secrets();
  return createMachineHasher(pepper, pepperBefore);
};

export const rotateCommand: LicenseCommand = {
  name: 'rotate',
  description: 'Create a new key for a license; the old key stops working',
  shape: withId,
  run: async (context, options) => {
    const ref = await refOf(context, options);
    const { license, key } = await inTransaction(context.pool, (db) => rotate(db, ref));
    return {
      json: { license, key },
      lines: [`License ${license.id} has a new key. Copy it now; it will not be shown again:`, key],
    };
  },
};
