/** Parses options for durations and counts that several commands have. */
import { type Command, InvalidArgumentError } from 'commander';
import { maxMachinesPerLicense, type Term } from '../operators/plans.ts';
import { durationSecondsOf, parseIsoTime } from '../operators/spans.ts';
import { RefusedError } from '../operators/transaction.ts';
import { type CommandOptions, numberOption, textOption } from './command.ts';

/** Parses a duration such as `365d` into seconds. */
export function parseDurationSeconds(span: string): number {
  const seconds = durationSecondsOf(span);
  if (seconds !== undefined) return seconds;
  throw new InvalidArgumentError('It must be a duration such as 365d (s, m, h, d, w or y), at most 100y.');
}

export const parsePositiveDurationSeconds = (span: string): number => {
  const seconds = parseDurationSeconds(span);
  if (seconds > 0) return seconds;
  throw new InvalidArgumentError('It must be longer than zero.');
};

/** Parses a day, or a time with its zone. */
export function parseTime(timeText: string): string {
  const time = parseIsoTime(timeText);
  if (time !== undefined) return time;
  throw new InvalidArgumentError(
    'It must be a date such as 2027-12-31, or a time such as 2027-12-31T12:00:00Z.',
  );
}

export function parseCount(countText: string): number {
  if (!/^\d{1,6}$/.test(countText)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(countText);
}

/** Parses the number of machines that may hold a license at once. */
export function parseMachineLimit(countText: string): number {
  const machines = parseCount(countText);
  if (machines >= 1 && machines <= maxMachinesPerLicense) return machines;
  throw new InvalidArgumentError(`The number must be from 1 to ${maxMachinesPerLicense}.`);
}

const [minLeaseSeconds, maxLeaseSeconds] = [60, 31 * 86_400];

/** Parses the duration of a slot lease into seconds. */
export function parseLeaseSeconds(span: string): number {
  const seconds = parseDurationSeconds(span);
  if (seconds >= minLeaseSeconds && seconds <= maxLeaseSeconds) return seconds;
  throw new InvalidArgumentError('It must be a duration from 1m to 31d.');
}

const [minTrialSeconds, maxTrialSeconds] = [60, 366 * 86_400];

/** Parses the duration of trials into seconds. */
export function parseTrialSeconds(span: string): number {
  const seconds = parseDurationSeconds(span);
  if (seconds >= minTrialSeconds && seconds <= maxTrialSeconds) return seconds;
  throw new InvalidArgumentError('It must be a duration from 1m to 366d.');
}

export const addTermOptions = (command: Command): Command =>
  command
    .option(
      '--for <span>',
      'the duration from the first activation: 365d, 12w, 2y',
      parsePositiveDurationSeconds,
    )
    .option('--expires <time>', 'until a time, or the start of a day (UTC): 2027-12-31', parseTime)
    .option('--perpetual', 'without end');

/** Returns the term from the options; undefined without one. Throws if there are several. */
export function termOptions(options: CommandOptions): Term | undefined {
  const seconds = numberOption(options, 'for');
  const expiresAt = textOption(options, 'expires');
  const isPerpetual = options['perpetual'] === true;
  const terms: (Term | false)[] = [
    seconds !== undefined && { kind: 'for', seconds },
    expiresAt !== undefined && { kind: 'until', expiresAt },
    isPerpetual && { kind: 'perpetual' },
  ];
  const [term, ...more] = terms.filter((one) => one !== false);
  if (more.length > 0)
    throw new RefusedError('several_terms', 'give one of --for, --expires and --perpetual');
  return term;
}
