/** The command `answer`: answers the request of an offline machine with a file to carry back. */
import { open, readFile, rm } from 'node:fs/promises';
import { minuteOf } from '@muster/terminal';
import { answerRequest } from '../air-gap/answer.ts';
import { mostDays, usualDays } from '../air-gap/days.ts';
import { readRequest } from '../air-gap/request.ts';
import { inTransaction, Refused } from '../operators/transaction.ts';
import { openWith } from '../vault.ts';
import { type LicenseCommand, number, text } from './command.ts';
import { positiveSpan } from './term.ts';

const secondsPerDay = 86_400;

const because = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export const answerCommand: LicenseCommand = {
  name: 'answer',
  description: 'Answer the request of an offline machine',
  shape: (it) =>
    it
      .argument('<request>', 'the request file that the program wrote')
      .requiredOption('--out <file>', 'write the answer to this new file, for the machine')
      .option(
        '--for <span>',
        `how long the machine may run with it; by default ${usualDays}d, at most until the license ends`,
        positiveSpan,
      ),
  run: async ({ pool, secrets }, options, [file = '']) => {
    const seconds = number(options, 'for') ?? usualDays * secondsPerDay;
    if (seconds > mostDays * secondsPerDay)
      throw new Refused('span', `an answer can let a machine run for at most ${mostDays}d`);
    const asked = await readFile(file, 'utf8').catch((error: unknown) => {
      throw new Refused('request', `${file} cannot be read: ${because(error)}`);
    });
    const request = readRequest(asked);
    const opened = await openWith(pool, await secrets());
    const out = text(options, 'out') ?? '';
    // Create the file before the activation, so that an unwritable path does not activate the license.
    const handle = await open(out, 'wx', 0o600).catch((error: unknown) => {
      throw new Refused('out', `${out} cannot be written: ${because(error)}`);
    });
    let isWritten = false;
    try {
      const { answer, outcome } = await inTransaction(pool, (db) =>
        answerRequest(db, opened, request, { seconds }),
      );
      await handle.writeFile(`${answer}\n`);
      isWritten = true;
      return outcome.kind === 'granted'
        ? {
            json: { ...outcome, file: out },
            lines: [
              `License ${outcome.licenseId} is now active on the machine; with ${out} it may run until ${minuteOf(outcome.offlineUntil)} UTC.`,
            ],
          }
        : {
            json: { ...outcome, file: out },
            lines: [`Refused: ${outcome.message} The file ${out} tells the machine so.`],
            isBad: true,
          };
    } finally {
      await handle.close();
      // The operator may answer this request again, so an incomplete file is removed.
      if (!isWritten) await rm(out, { force: true });
    }
  },
};
