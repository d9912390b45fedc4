/** The usage meters of a license: what a program counts, how much of it a license includes, and for which period. */
import { z } from 'zod';
import { featureNamePattern } from './features.ts';

const maxMeters = 16;
/** The largest limit. Sums stay exact in JSON numbers. */
const maxLimit = 1_000_000_000_000;

/** A month in UTC such as `2027-03`. */
export const monthPattern = /^\d{4}-(0[1-9]|1[0-2])$/;

export const MeterName = z
  .string()
  .regex(featureNamePattern)
  .describe('The name of a meter, such as exports.');
export const MeterTerms = z.strictObject({
  limit: z.int().min(0).max(maxLimit).nullable().describe('null means no limit.'),
  period: z.enum(['month', 'total']).describe('A calendar month in UTC, or the whole life of the license.'),
  overLimit: z
    .enum(['refuse', 'count'])
    .describe('Whether usage above the limit is refused, or counted so that you can bill it.'),
});
export type MeterTerms = z.infer<typeof MeterTerms>;

/** The meters of a plan or license. */
export const OwnMeters = z
  .record(MeterName, MeterTerms)
  .refine((meters) => Object.keys(meters).length <= maxMeters, `at most ${maxMeters} meters`);
export type LicenseMeters = Readonly<z.infer<typeof OwnMeters>>;

/** The usage of a meter in one period. */
export const MeterUsageRecord = z.object({
  meter: z.string(),
  period: z.string().describe('A month in UTC such as 2027-03, or `total`.'),
  used: z.int(),
  limit: z.int().nullable().describe('null means no limit.'),
});
export type MeterUsageRecord = z.output<typeof MeterUsageRecord>;

const formatLimit = ({ limit, period, overLimit }: MeterTerms): string =>
  `${limit === null ? 'unlimited' : String(limit)}${period === 'month' ? ' per month' : ' in total'}${limit !== null && overLimit === 'count' ? ', more is counted' : ''}`;

/** Formats meters for people, such as `exports 100 per month; renders unlimited in total`. */
export const formatMeters = (meters: LicenseMeters): string =>
  Object.entries(meters)
    .map(([name, terms]) => `${name} ${formatLimit(terms)}`)
    .join('; ') || 'none';
