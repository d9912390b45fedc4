/**
 * Calculates the price of seats, and of changing their number within a period. All amounts are integers in
 * minor currency units.
 */
import { type TimeRange } from '@muster/organizations';
import { type Proration } from '@muster/contract';
import { type SeatPrice } from './prices.ts';

const millisPerDay = 86_400_000;

/** Returns the price of this many seats for a whole period. Each seat costs the price of its tier. */
export function calculateCost(tiers: SeatPrice['tiers'], seats: number): number {
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
function prorateAmount(amount: number, days: number, totalDays: number): number {
  const doubled = 2 * amount * days + totalDays;
  return (doubled - (doubled % (2 * totalDays))) / (2 * totalDays);
}

const startOfDayMillis = (time: string): number => Math.floor(Date.parse(time) / millisPerDay) * millisPerDay;

/**
 * Calculates the cost of changing from `from` to `to` seats for the rest of the period, including today. The
 * old number is credited and the new one charged. Each line is rounded separately and depends only on its
 * number of seats. Several changes on one day therefore cost the same in total as one change.
 */
export function prorate(
  { currency, tiers }: SeatPrice,
  { from, to }: { readonly from: number; readonly to: number },
  period: TimeRange,
  changedAt: string,
): Proration {
  const start = startOfDayMillis(period.start);
  const end = Date.parse(period.end);
  const today = Math.max(start, startOfDayMillis(changedAt));
  const whole = { currency, from: new Date(today).toISOString(), to: period.end };
  if (from === to) return { ...whole, amount: 0, lines: [] };

  const daysOfPeriod = Math.ceil((end - start) / millisPerDay);
  const days = Math.ceil((end - today) / millisPerDay);
  const credit = prorateAmount(calculateCost(tiers, from), days, daysOfPeriod);
  const charge = prorateAmount(calculateCost(tiers, to), days, daysOfPeriod);
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
