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
  'Refuse it until it is resumed',
  (db, ref, options) => suspend(db, ref, reasonOf(options)),
  (it) => it.option('--reason <text>', 'why, for operators to read'),
);

export const resumeCommand = command('resume', 'Let a suspended license go on', resume);

export const revokeCommand = command(
  'revoke',
  'Refuse it for good',
  (db, ref, options) => revoke(db, ref, reasonOf(options)),
  (it) => it.option('--reason <text>', 'why, for operators to read'),
);

export const renewCommand = command(
  'renew',
  'Give it another end: so much longer, a day, or none',
  (db, ref, options) => {
    const term = termOf(options);
    if (term === undefined) throw new Refused('no_term', 'say --for, --expires or --perpetual');
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
  description: 'Make another key for it; the old one is unknown from now on',
  shape: withId,
  run: async (context, options) => {
    const ref = await refOf(context, options);
    const { license, key } = await inTransaction(context.pool, (db) => rotate(db, ref));
    return {
      json: { license, key },
      lines: [`License ${license.id} has another key. Copy it now, it is not shown again:`, key],
    };
  },
};
