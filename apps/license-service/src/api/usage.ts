/** Operations on the usage meters of a license. */
import { z } from 'zod';
import { MeterName, MeterUsageRecord, monthPattern, OwnMeters } from '../meters.ts';
import { listCurrentUsage, listUsageOfMonth, resetUsage, setMeters } from '../operators/usage.ts';
import { defineOperation, getOwnLicense } from './operation.ts';
import { LicenseId, LicenseRecord, toLicenseRecord } from './records.ts';

const usageOperation = defineOperation({
  path: 'licenses/usage',
  scope: 'read',
  summary: 'Show the usage of a license per meter',
  params: z.strictObject({
    id: LicenseId,
    month: z
      .string()
      .regex(monthPattern)
      .optional()
      .describe('A month in UTC such as 2027-03; by default the current period of each meter.'),
  }),
  result: z.object({ items: z.array(MeterUsageRecord) }),
  run: async (work, { id, month }) => {
    const license = await getOwnLicense(work, id);
    return {
      items: await (month === undefined
        ? listCurrentUsage(work.db, license)
        : listUsageOfMonth(work.db, license, month)),
    };
  },
});

const resetUsageOperation = defineOperation({
  path: 'licenses/resetUsage',
  scope: 'change',
  summary: 'Set the usage of a meter in the current period to zero',
  params: z.strictObject({ id: LicenseId, meter: MeterName }),
  result: z.object({ before: MeterUsageRecord.describe('The usage before the reset.') }),
  run: async (work, { id, meter }) => {
    await getOwnLicense(work, id);
    return { before: (await resetUsage(work.db, { id }, meter)).before };
  },
});

const setMetersOperation = defineOperation({
  path: 'licenses/setMeters',
  scope: 'change',
  summary: 'Give the license its own meters; they override those of its plan from the next event on',
  params: z.strictObject({ id: LicenseId, meters: OwnMeters }),
  result: z.object({ license: LicenseRecord }),
  run: async (work, { id, meters }) => {
    await getOwnLicense(work, id);
    return { license: toLicenseRecord(await setMeters(work.db, { id }, () => meters)) };
  },
});

export const usageOperations = [usageOperation, resetUsageOperation, setMetersOperation];
