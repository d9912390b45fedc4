/** The command `answer`: answers the request of an offline machine with a file to carry back. */
import { readFile, rm } from 'node:fs/promises';
import { formatMinute } from '@muster/terminal';
import { answerAirGapRequest } from '../air-gap/answer.ts';
import { maxOfflineDays, defaultOfflineDays } from '../air-gap/days.ts';
import { parseAirGapRequest } from '../air-gap/request.ts';
import { inTransaction, RefusedError } from '../operators/transaction.ts';
import { openVault } from '../vault.ts';
import { createFile, errorMessageOf, type LicenseCommand, numberOption, textOption } from './command.ts';
import { parsePositiveDurationSeconds } from './term.ts';

const secondsPerDay = 86_400;

export const answerCommand: LicenseCommand = {
  name: 'answer',
  description: 'Answer the request of an offline machine',
  configure: (it) =>
    it
      .argument('<request>', 'the request file that the program wrote')
      .requiredOption('--out <file>', 'write the answer to this new file, for the machine')
      .option(
        '--for <span>',
        `how long the machine may run with it; by default ${defaultOfflineDays}d, at most until the license ends`,
        parsePositiveDurationSeconds,
      ),
  run: async ({ pool, secrets }, options, [file = '']) => {
    const seconds = numberOption(options, 'for') ?? defaultOfflineDays * secondsPerDay;
    if (seconds > maxOfflineDays * secondsPerDay)
      throw new RefusedError('span', `an answer can let a machine run for at most ${maxOfflineDays}d`);
    const requestText = await readFile(file, 'utf8').catch((error: unknown) => {
      throw new RefusedError('request', `${file} cannot be read: ${errorMessageOf(error)}`);
    });
    const request = parseAirGapRequest(requestText);
    const opened = await openVault(pool, await secrets());
    const out = textOption(options, 'out') ?? '';
    // Create the file before the activation, so that an unwritable path does not activate the license.
    const handle = await createFile(out);
    let isWritten = false;
    try {
      const { answer, outcome } = await inTransaction(pool, (db) =>
        answerAirGapRequest(db, opened, request, { seconds }),
      );
      await handle.writeFile(`${answer}\n`);
      isWritten = true;
      return outcome.kind === 'granted'
        ? {
            json: { ...outcome, file: out },
            lines: [
              `License ${outcome.licenseId} is now active on the machine; with ${out} it may run until ${formatMinute(outcome.offlineUntil)} UTC.`,
            ],
          }
        : {
            json: { ...outcome, file: out },
            lines: [`Refused: ${outcome.message} The file ${out} tells the machine so.`],
            foundProblem: true,
          };
    } finally {
      await handle.close();
      // The operator may answer this request again, so an incomplete file is removed.
      if (!isWritten) await rm(out, { force: true });
    }
  },
};
