import { rm } from 'node:fs/promises';
import { issueLicenses, type IssueResult } from '../operators/issue.ts';
import { inTransaction, OutcomeUnknownError, RefusedError } from '../operators/transaction.ts';
import {
  addProductOption,
  createFile,
  type LicenseCommand,
  numberOption,
  productOption,
  textOption,
} from './command.ts';
import { applyFeatureOptions, addFeatureOption } from './features.ts';
import { termOptions, parseCount, parseMachineLimit, addTermOptions } from './term.ts';

type StoreKeys = (keys: readonly string[]) => Promise<void>;

/** Writes the keys to a file before the transaction commits, so that no key of a sold license can be lost. */
async function issueIntoFile(
  file: string,
  issueWith: (keep: StoreKeys) => Promise<IssueResult>,
): Promise<IssueResult> {
  const handle = await createFile(file);
  let isKept = false;
  try {
    const result = await issueWith(async (keys) => {
      await handle.writeFile(`${keys.join('\n')}\n`);
      await handle.sync();
    });
    isKept = !result.isRepeated;
    return result;
  } catch (error) {
    // The file is kept if the transaction may have committed, because the file then has the only copy of the
    // keys.
    isKept = error instanceof OutcomeUnknownError;
    throw error;
  } finally {
    await handle.close();
    if (!isKept) await rm(file, { force: true });
  }
}

export const issueCommand: LicenseCommand = {
  name: 'issue',
  description: 'Issue licenses; their keys are shown only once',
  configure: (command) =>
    addProductOption(addFeatureOption(addTermOptions(command)))
      .requiredOption('--plan <plan>', 'the plan to issue')
      .option('--order <order>', 'your reference of the sale; the same order is issued only once')
      .option('--count <number>', 'the number of licenses; by default one', parseCount)
      .option('--customer <ref>', 'your reference of the customer, not an e-mail address')
      .option(
        '--transfers <number>',
        'how often it may be transferred; by default as in the plan',
        parseCount,
      )
      .option(
        '--machines <number>',
        'how many machines can hold it at the same time; by default as in the plan',
        parseMachineLimit,
      )
      .option('--out <file>', 'write the keys to this new file instead'),
  run: async ({ pool }, options) => {
    const customerRef = textOption(options, 'customer');
    if (customerRef?.includes('@') === true)
      throw new RefusedError('customer', 'give your own reference of the customer, not an e-mail address');
    const order = {
      product: productOption(options),
      plan: textOption(options, 'plan') ?? '',
      term: termOptions(options),
      count: numberOption(options, 'count'),
      orderRef: textOption(options, 'order'),
      customerRef,
      transferLimit: numberOption(options, 'transfers'),
      machineLimit: numberOption(options, 'machines'),
      features: applyFeatureOptions(options),
    };
    const work = (keep?: StoreKeys): Promise<IssueResult> =>
      inTransaction(pool, async (db) => {
        const result = await issueLicenses(db, order);
        if (!result.isRepeated) await keep?.(result.licenses.map(({ key }) => key ?? ''));
        return result;
      });
    const file = textOption(options, 'out');
    const { plan, licenses, isRepeated, isNewPlan } =
      file === undefined ? await work() : await issueIntoFile(file, work);
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
        ...(isNewPlan ? [`Created the plan ${plan}.`] : []),
        ...(isRepeated
          ? [
              `This order was already issued: ${count.toLowerCase()} of plan ${plan}, ${licenses.map(({ hint }) => `…${hint}`).join(', ')}.`,
              'Keys are shown only once; use license rotate to create a new key for a license.',
            ]
          : [
              `${count} of plan ${plan}. ${file === undefined ? 'Copy the keys now; they will not be shown again:' : `The keys are in ${file}.`}`,
              ...(isShown ? licenses.map(({ key }) => key ?? '') : []),
            ]),
      ],
    };
  },
};
