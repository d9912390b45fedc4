/** The help text of an operation, built from the contract alone. */
import { commandLines, describe, exampleWords } from '@muster/reference';
import { type Operation } from '@muster/registry';
import { wrapped } from '@muster/terminal';

/** Formats two columns, wrapping the text of the second one. */
const columns = (rows: readonly (readonly [string, string])[], width: number): string[] => {
  const first = Math.max(...rows.map(([words]) => words.length));
  return rows.flatMap(([words, text]) => wrapped([`  ${words.padEnd(first)}  ${text}`], width, first + 9));
};

/** Returns the text below the flags: the required access, the possible errors, and an example. */
export function afterFlags(operation: Operation, width = 80): string {
  const { access, scope, refusals, events } = describe(operation);
  return [
    '',
    ...wrapped([`Access: ${access}, with a token of scope ${scope}`], width),
    ...(refusals.length === 0
      ? []
      : [
          '',
          'Refusals:',
          ...columns(
            refusals.map(({ reason, status, meaning }) => [reason, `${status}  ${meaning}`] as const),
            width,
          ),
        ]),
    ...(events.length === 0 ? [] : ['', ...wrapped([`Events: ${events.join(', ')}`], width)]),
    '',
    'Example:',
    `  ${commandLines(exampleWords(operation), width - 2)}`,
  ].join('\n');
}
