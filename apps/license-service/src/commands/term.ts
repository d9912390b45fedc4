/** How long: the options that several commands take, read in one way. */
import { type Command, InvalidArgumentError } from 'commander';
import { mostMachines, type Term } from '../operators/plans.ts';
import { Refused } from '../operators/transaction.ts';
import { type Options, number, text } from './command.ts';

const units: Readonly<Record<string, number>> = {
  s: 1,
  m: 60,
  h: 3_600,
  d: 86_400,
  w: 604_800,
  y: 365 * 86_400,
};

/** `365d` → seconds. */
export function toSeconds(span: string): number {
  const [, count = '', unit = ''] = /^(\d{1,6})([smhdwy])$/.exec(span) ?? [];
  const seconds = Number(count) * (units[unit] ?? NaN);
  if (span.length > 0 && seconds >= 0) return seconds;
  throw new InvalidArgumentError('It must be a span such as 365d (s, m, h, d, w or y).');
}

export const positiveSpan = (span: string): number => {
  const seconds = toSeconds(span);
  if (seconds > 0) return seconds;
  throw new InvalidArgumentError('It must be longer than nothing.');
};

const latest = Date.UTC(2200, 0, 1);

/** A day, or a time with its zone. Ends of what is sold lie between now and 2200. */
export function toTime(given: string): string {
  const form = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/;
  const time = new Date(form.test(given) ? given : NaN);
  const day = given.slice(0, 10);
  // 2027-02-30 would become a day of March.
  const isDay = !Number.isNaN(Date.parse(day)) && new Date(day).toISOString().startsWith(day);
  if (!isDay || Number.isNaN(time.getTime()) || time.getTime() > latest) {
    throw new InvalidArgumentError(
      'It must be a day such as 2027-12-31, or a time such as 2027-12-31T12:00:00Z.',
    );
  }
  return time.toISOString();
}

export function toCount(given: string): number {
  if (!/^\d{1,6}$/.test(given)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(given);
}

/** How many machines may hold a license at once. */
export function toMachines(given: string): number {
  const machines = toCount(given);
  if (machines >= 1 && machines <= mostMachines) return machines;
  throw new InvalidArgumentError(`It must be a number from 1 to ${mostMachines}.`);
}

const [shortestLease, longestLease] = [60, 31 * 86_400];

/** For how long a slot is lent each time. */
export function toLease(span: string): number {
  const seconds = toSeconds(span);
  if (seconds >= shortestLease && seconds <= longestLease) return seconds;
  throw new InvalidArgumentError('It must be a span from 1m to 31d.');
}

export const withTerm = (command: Command): Command =>
  command
    .option('--for <span>', 'how long, from the first activation on: 365d, 12w, 2y', positiveSpan)
    .option('--expires <time>', 'until a time, or the beginning of a day (UTC): 2027-12-31', toTime)
    .option('--perpetual', 'for ever');

/** The one term that was said; undefined where none was. */
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
  if (more.length > 0) throw new Refused('several_terms', 'say one of --for, --expires and --perpetual');
  return term;
}
