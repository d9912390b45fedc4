/** What --help says about an operation, from the contract alone. */
import { describe } from '@muster/reference';
import { type Operation } from '@muster/registry';
import { type Flag, kebab } from './flags.ts';
import { quoted, wordsOf } from './typed.ts';

/** `storySpec.get` → `['story-spec', 'get']`. */
export const commandWords = (operationName: string): string[] => operationName.split('.').map(kebab);

/** The example of the contract as somebody would type it. */
export const exampleOf = ({ name, example }: Operation, flags: readonly Flag[]): string =>
  ['muster', ...commandWords(name), ...wordsOf(flags, example)].map(quoted).join(' ');

const columns = (rows: readonly (readonly [string, string])[]): string[] => {
  const width = Math.max(...rows.map(([first]) => first.length));
  return rows.map(([first, second]) => `  ${first.padEnd(width)}  ${second}`);
};

/** Below the flags: who may, what it may be refused with, how it looks. */
export function afterFlags(operation: Operation, flags: readonly Flag[]): string {
  const { access, scope, refusals, events } = describe(operation);
  return [
    '',
    `Who may: ${access}, with a token of scope ${scope}`,
    ...(refusals.length === 0
      ? []
      : [
          '',
          'May be refused as:',
          ...columns(refusals.map(({ reason, status, meaning }) => [reason, `${status}  ${meaning}`])),
        ]),
    ...(events.length === 0 ? [] : ['', `Says what happened: ${events.join(', ')}`]),
    '',
    'Example:',
    `  ${exampleOf(operation, flags)}`,
  ].join('\n');
}
