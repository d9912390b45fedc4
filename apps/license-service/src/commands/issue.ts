import { open, rm } from 'node:fs/promises';
import { issue, type IssueResult } from '../operators/issue.ts';
import { inTransaction, OutcomeUnknown, Refused } from '../operators/transaction.ts';
import { type LicenseCommand, number, productIn, text, withProduct } from './command.ts';
import { featuresOf, withFeature } from './features.ts';
import { termOf, toCount, toMachines, withTerm } from './term.ts';

type KeepKeys = (keys: readonly string[]) => Promise<void>;

/** Writes the keys to a file before the transaction commits, so that no key of a sold license can be lost. */
async function intoFile(file: string, work: (keep: KeepKeys) => Promise<IssueResult>): Promise<IssueResult> {
  const handle = await open(file, 'wx', 0o600).catch((error: unknown) => {
    throw new Refused(
      'out',
      `${file} cannot be written: ${error instanceof Error ? error.message : String(error)}`,
    );
  });
  let isKept = false;
  try {
    const result = await work(async (keys) => {
      await handle.writeFile(`${keys.join('\n')}\n`);
      await handle.sync();
    });
    isKept = !result.isRepeated;
    return result;
  } catch (error) {
    // The file is kept if the transaction may have committed, because the file then has the only copy of the
    // keys.
    isKept = error instanceof OutcomeUnknown;
    throw error;
  } finally {
    await handle.close();
    if (!isKept) await rm(file, { force: true });
  }
}

export const issueCommand: LicenseCommand = {
  name: 'issue',
  description: 'Issue licenses; their keys are shown once',
  shape: (command) =>
    withProduct(withFeature(withTerm(command)))
      .requiredOption('--plan <plan>', 'what is sold')
      .option('--order <order>', 'the seller’s name for the sale; the same order is issued once')
      .option('--count <number>', 'how many; one unless said', toCount)
      .option('--customer <ref>', 'the seller’s name for the buyer, no e-mail address')
      .option('--transfers <number>', 'how often it may be moved; the plan’s unless said', toCount)
      .option(
        '--machines <number>',
        'how many machines may hold it at once; as the plan says unless said',
        toMachines,
      )
      .option('--out <file>', 'write the keys into a new file instead'),
  run: async ({ pool }, options) => {
    const customerRef = text(options, 'customer');
    if (customerRef?.includes('@') === true) {
      throw new Refused('customer', 'a customer is named by a reference of yours, not by an e-mail address');
    }
    const order = {
      product: productIn(options),
      plan: text(options, 'plan') ?? '',
      term: termOf(options),
      count: number(options, 'count'),
      orderRef: text(options, 'order'),
      customerRef,
      transferLimit: number(options, 'transfers'),
      machineLimit: number(options, 'machines'),
      features: featuresOf(options),
    };
    const work = (keep?: KeepKeys): Promise<IssueResult> =>
      inTransaction(pool, async (db) => {
        const result = await issue(db, order);
        if (!result.isRepeated) await keep?.(result.licenses.map(({ key }) => key ?? ''));
        return result;
      });
    const file = text(options, 'out');
    const { plan, licenses, isRepeated, isNewPlan } =
      file === undefined ? await work() : await intoFile(file, work);
    const count = licenses.length === 1 ? 'One license' : `${licenses.length} licenses`;
    const isShown = file === undefined && !isRepeated;
    return {
      json: {
        plan,
        isRepeated,
        isNewPlan,
        licenses: licenses.map(({ id, key, hint }) => ({ id, hint, ...(isShown && { key }) })),
        ...(file !== undefined && !isRepeated && { file }),
      },
      lines: [
        ...(isNewPlan ? [`Plan ${plan} is new.`] : []),
        ...(isRepeated
          ? [
              `This order was issued before: ${count.toLowerCase()} of plan ${plan}, ${licenses.map(({ hint }) => `…${hint}`).join(', ')}.`,
              'Keys are shown once; license rotate makes another one for a license whose key is lost.',
            ]
          : [
              `${count} of plan ${plan}. ${file === undefined ? 'Copy the keys now, they are not shown again:' : `The keys are in ${file}.`}`,
              ...(isShown ? licenses.map(({ key }) => key ?? '') : []),
            ]),
      ],
    };
  },
};
