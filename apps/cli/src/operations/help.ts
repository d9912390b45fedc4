/** What --help says about an operation, from the contract alone. */
import { describe, exampleWords, quoted } from '@muster/reference';
import { type Operation } from '@muster/registry';

const columns = (rows: readonly (readonly [string, string])[]): string[] => {
  const width = Math.max(...rows.map(([first]) => first.length));
  return rows.map(([first, second]) => `  ${first.padEnd(width)}  ${second}`);
};

/** Below the flags: who may, what it may be refused with, how it looks. */
export function afterFlags(operation: Operation): string {
  const { access, scope, refusals, events } = describe(operation);
  return [
    '',
    `Who may: ${access}, with a token of scope ${scope}`,
    ...(refusals.length === 0
      ? []
      : [
          '',
          'Refusals:',
          ...columns(refusals.map(({ reason, status, meaning }) => [reason, `${status}  ${meaning}`])),
        ]),
    ...(events.length === 0 ? [] : ['', `Emits: ${events.join(', ')}`]),
    '',
    'Example:',
    `  ${exampleWords(operation).map(quoted).join(' ')}`,
  ].join('\n');
}
