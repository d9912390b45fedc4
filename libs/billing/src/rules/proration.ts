/**
 * Calculates the price of seats, and of changing their number within a period. All amounts are integers in
 * minor currency units.
 */
import { type TimeRange } from '@muster/organizations';
import { type Proration } from '@muster/registry';
import { type SeatPrice } from './prices.ts';

const dayMillis = 86_400_000;

/** Returns the price of this many seats for a whole period. Each seat costs the price of its tier. */
export function costOf(tiers: SeatPrice['tiers'], seats: number): number {
  let below = 0;
  let cost = 0;
  for (const { upTo, unitAmount } of tiers) {
    const inTier = Math.max(0, Math.min(seats, upTo ?? seats) - below);
    cost += inTier * unitAmount;
    below += inTier;
  }
  return cost;
}

/**
 * Returns the prorated amount, rounded half up. It uses integers only, since a quotient of floats can round a
 * half in the wrong direction.
 */
function share(amount: number, days: number, ofDays: number): number {
  const doubled = 2 * amount * days + ofDays;
  return (doubled - (doubled % (2 * ofDays))) / (2 * ofDays);
}

const beginningOfDay = (time: string): number => Math.floor(Date.parse(time) / dayMillis) * dayMillis;

/**
 * Calculates the cost of changing from `from` to `to` seats for the rest of the period, including today. The
 * old number is credited and the new one charged. Each line is rounded separately and depends only on its
 * number of seats. Several changes on one day therefore cost the same in total as one change.
 */
export function prorate(
  { currency, tiers }: SeatPrice,
  { from, to }: { readonly from: number; readonly to: number },
  period: TimeRange,
  at: string,
): Proration {
  const start = beginningOfDay(period.start);
  const end = Date.parse(period.end);
  const today = Math.max(start, beginningOfDay(at));
  const whole = { currency, from: new Date(today).toISOString(), to: period.end };
  if (from === to) return { ...whole, amount: 0, lines: [] };

  const daysOfPeriod = Math.ceil((end - start) / dayMillis);
  const days = Math.ceil((end - today) / dayMillis);
  const credit = share(costOf(tiers, from), days, daysOfPeriod);
  const charge = share(costOf(tiers, to), days, daysOfPeriod);
  return {
    ...whole,
    amount: charge - credit,
    lines: [
      // `-credit` would turn zero into negative zero.
      { kind: 'credit', seats: from, days, amount: 0 - credit },
      { kind: 'charge', seats: to, days, amount: charge },
    ],
  };
}
