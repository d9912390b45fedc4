/** What seats cost, and what a change of their number costs for the rest of a period. Whole minor units throughout. */
import { type Period } from '@muster/organizations';
import { type Proration } from '@muster/registry';
import { type SeatPrice } from './prices.ts';

const dayMillis = 86_400_000;

/** What so many seats cost for a whole period: each what the tier that it falls in says. */
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

/** Half a unit goes up. Integers all the way: a quotient of floats can land on the wrong side of a half. */
function share(amount: number, days: number, ofDays: number): number {
  const doubled = 2 * amount * days + ofDays;
  return (doubled - (doubled % (2 * ofDays))) / (2 * ofDays);
}

const beginningOfDay = (time: string): number => Math.floor(Date.parse(time) / dayMillis) * dayMillis;

/**
 * What it costs to have `to` seats instead of `from` for the rest of the period, today included: what is left of the
 * old number is credited, the new one is charged. Each is rounded by itself and depends on its number of seats alone, so
 * changes on one day add up to what the one change from the first to the last would have cost.
 */
export function prorate(
  { currency, tiers }: SeatPrice,
  { from, to }: { readonly from: number; readonly to: number },
  period: Period,
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
      // Not -credit: that would make a zero a negative one.
      { kind: 'credit', seats: from, days, amount: 0 - credit },
      { kind: 'charge', seats: to, days, amount: charge },
    ],
  };
}
