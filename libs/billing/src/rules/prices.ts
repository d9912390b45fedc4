/** The prices of seats by plan. The environment variable SEAT_PRICING overrides them for an installation. */
import { type Plan, plans, type SeatPricing } from '@muster/contract';
import { z } from 'zod';

/**
 * The maximum unit price. A bill for a million seats is then still an integer that JSON represents exactly.
 */
const maxUnitAmount = 1_000_000;

const Tier = z.strictObject({
  upTo: z.int().min(1).max(1_000_000).nullable(),
  unitAmount: z.int().min(0).max(maxUnitAmount),
});

const Price = z.strictObject({
  currency: z.string().regex(/^[A-Z]{3}$/, 'must be three capital letters such as USD'),
  interval: z.literal('month'),
  tiers: z
    .array(Tier)
    .min(1)
    .max(20)
    .refine(
      (tiers) => tiers.every(({ upTo }, index) => (upTo === null) === (index === tiers.length - 1)),
      'only the last tier may have upTo null, and it must',
    )
    .refine(
      (tiers) => tiers.every(({ upTo }, index) => upTo === null || upTo > (tiers[index - 1]?.upTo ?? 0)),
      'upTo of each tier must be greater than that of the previous one',
    ),
});

export type SeatPrice = Pick<SeatPricing, 'currency' | 'interval' | 'tiers'>;
export type SeatPrices = Readonly<Record<Plan, SeatPrice>>;

export const defaultSeatPrices: SeatPrices = {
  free: { currency: 'USD', interval: 'month', tiers: [{ upTo: null, unitAmount: 0 }] },
  team: {
    currency: 'USD',
    interval: 'month',
    tiers: [
      { upTo: 10, unitAmount: 900 },
      { upTo: 50, unitAmount: 800 },
      { upTo: null, unitAmount: 700 },
    ],
  },
  enterprise: {
    currency: 'USD',
    interval: 'month',
    tiers: [
      { upTo: 250, unitAmount: 1_900 },
      { upTo: null, unitAmount: 1_500 },
    ],
  },
};

const PriceOverrides = z.partialRecord(z.enum(plans), Price);

/**
 * Parses prices from a JSON text. Plans that it does not name get the default prices. Throws with the problem
 * found.
 */
export function parseSeatPrices(text: string): SeatPrices {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    throw new Error('is not valid JSON');
  }
  const parsed = PriceOverrides.safeParse(given);
  if (parsed.success) return { ...defaultSeatPrices, ...parsed.data };
  const [issue] = parsed.error.issues;
  const place = issue?.path.map(String).join('.') ?? '';
  throw new Error(
    `is not a valid price list${place === '' ? '' : ` in the field ${place}`}: ${issue?.message ?? 'it is invalid'}`,
  );
}
