/** The help text of an operation, built from the contract alone. */
import { wrapCommand, toOperationPage, exampleWords } from '@muster/reference';
import { type Operation } from '@muster/contract';
import { wrapLines } from '@muster/terminal';

/** Formats two columns, wrapping the text of the second one. */
const formatColumns = (rows: readonly (readonly [string, string])[], width: number): string[] => {
  const first = Math.max(...rows.map(([words]) => words.length));
  return rows.flatMap(([words, text]) => wrapLines([`  ${words.padEnd(first)}  ${text}`], width, first + 9));
};

/** Returns the text below the flags: the required access, the possible errors, and an example. */
export function helpAfterFlags(operation: Operation, width = 80): string {
  const { access, scope, refusals, events } = toOperationPage(operation);
  return [
    '',
    ...wrapLines([`Access: ${access}, with a token of scope ${scope}`], width),
    ...(refusals.length === 0
      ? []
      : [
          '',
          'Refusals:',
          ...formatColumns(
            refusals.map(({ reason, status, meaning }) => [reason, `${status}  ${meaning}`] as const),
            width,
          ),
        ]),
    ...(events.length === 0 ? [] : ['', ...wrapLines([`Events: ${events.join(', ')}`], width)]),
    '',
    'Example:',
    `  ${wrapCommand(exampleWords(operation), width - 2)}`,
  ].join('\n');
}
