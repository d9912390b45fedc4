/** Parses options for durations and counts that several commands have. */
import { type Command, InvalidArgumentError } from 'commander';
import { mostMachines, type Term } from '../operators/plans.ts';
import { secondsOf, timeOf } from '../operators/spans.ts';
import { Refused } from '../operators/transaction.ts';
import { type Options, number, text } from './command.ts';

/** Parses a duration such as `365d` into seconds. */
export function toSeconds(span: string): number {
  const seconds = secondsOf(span);
  if (seconds !== undefined) return seconds;
  throw new InvalidArgumentError('It must be a duration such as 365d (s, m, h, d, w or y), at most 100y.');
}

export const positiveSpan = (span: string): number => {
  const seconds = toSeconds(span);
  if (seconds > 0) return seconds;
  throw new InvalidArgumentError('It must be longer than zero.');
};

/** Parses a day, or a time with its zone. */
export function toTime(given: string): string {
  const time = timeOf(given);
  if (time !== undefined) return time;
  throw new InvalidArgumentError(
    'It must be a date such as 2027-12-31, or a time such as 2027-12-31T12:00:00Z.',
  );
}

export function toCount(given: string): number {
  if (!/^\d{1,6}$/.test(given)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(given);
}

/** Parses the number of machines that may hold a license at once. */
export function toMachines(given: string): number {
  const machines = toCount(given);
  if (machines >= 1 && machines <= mostMachines) return machines;
  throw new InvalidArgumentError(`It must be a number from 1 to ${mostMachines}.`);
}

const [shortestLease, longestLease] = [60, 31 * 86_400];

/** Parses the duration of a slot lease into seconds. */
export function toLease(span: string): number {
  const seconds = toSeconds(span);
  if (seconds >= shortestLease && seconds <= longestLease) return seconds;
  throw new InvalidArgumentError('It must be a duration from 1m to 31d.');
}

const [shortestTrial, longestTrial] = [60, 366 * 86_400];

/** Parses the duration of trials into seconds. */
export function toTrial(span: string): number {
  const seconds = toSeconds(span);
  if (seconds >= shortestTrial && seconds <= longestTrial) return seconds;
  throw new InvalidArgumentError('It must be a duration from 1m to 366d.');
}

export const withTerm = (command: Command): Command =>
  command
    .option('--for <span>', 'the duration from the first activation: 365d, 12w, 2y', positiveSpan)
    .option('--expires <time>', 'until a time, or the start of a day (UTC): 2027-12-31', toTime)
    .option('--perpetual', 'without end');

/** Returns the term from the options; undefined without one. Throws if there are several. */
export function termOf(options: Options): Term | undefined {
  const seconds = number(options, 'for');
  const expiresAt = text(options, 'expires');
  const isPerpetual = options['perpetual'] === true;
  const terms: (Term | false)[] = [
    seconds !== undefined && { kind: 'for', seconds },
    expiresAt !== undefined && { kind: 'until', expiresAt },
    isPerpetual && { kind: 'perpetual' },
  ];
  const [term, ...more] = terms.filter((one) => one !== false);
  if (more.length > 0) throw new Refused('several_terms', 'give one of --for, --expires and --perpetual');
  return term;
}
