/** Commands that show and reset the usage of a license, and the options that set its meters. */
import { type Command, InvalidArgumentError } from 'commander';
import { featureNamePattern } from '../features.ts';
import { type LicenseMeters, type MeterTerms, monthPattern, OwnMeters } from '../meters.ts';
import { getLicense } from '../operators/license.ts';
import { inReadOnlyTransaction, inTransaction, RefusedError } from '../operators/transaction.ts';
import { listCurrentUsage, listUsageOfMonth, resetUsage, setMeters } from '../operators/usage.ts';
import { addIdOption, listOutput, type LicenseCommand, readLicenseRef, textOption } from './command.ts';
import { collectOption, listOption } from './features.ts';
import { licenseOutput } from './shown.ts';

type NamedMeter = readonly [string, MeterTerms];

function parseMeterOption(optionText: string): NamedMeter {
  const [, name = '', limit = '', period, more] =
    /^([^=]*)=(\d{1,12}|unlimited)\/(month|total)(,count)?$/s.exec(optionText) ?? [];
  if (period === undefined || !featureNamePattern.test(name))
    throw new InvalidArgumentError(
      'It must be a name in lower case with a limit and a period: exports=100/month, renders=unlimited/total.',
    );
  return [
    name,
    {
      limit: limit === 'unlimited' ? null : Number(limit),
      period: period as MeterTerms['period'],
      overLimit: more === undefined ? 'refuse' : 'count',
    },
  ];
}

export const addMeterOptions = (command: Command): Command =>
  command
    .option(
      '--meter <meter>',
      'a usage limit: exports=100/month, renders=5000/total; with ",count" usage above it is counted; repeatable',
      collectOption(parseMeterOption),
    )
    .option('--drop-meter <name>', 'remove this meter; repeatable', collectOption(String));

/** Adds and removes meters as the options say. */
export function applyMeterOptions(
  options: Readonly<Record<string, unknown>>,
  currentMeters: LicenseMeters = {},
): LicenseMeters {
  const dropped = listOption(options, 'dropMeter');
  const meters = OwnMeters.safeParse({
    ...Object.fromEntries(Object.entries(currentMeters).filter(([name]) => !dropped.includes(name))),
    ...Object.fromEntries(listOption(options, 'meter') as readonly NamedMeter[]),
  });
  if (meters.success) return meters.data;
  throw new RefusedError('meters', meters.error.issues[0]?.message ?? 'these meters are invalid');
}

function parseMonth(month: string): string {
  if (monthPattern.test(month)) return month;
  throw new InvalidArgumentError('It must be a month such as 2027-03.');
}

const usageShowCommand: LicenseCommand = {
  name: 'usage show',
  description: 'Show the usage of a license per meter, in the current period or in a month',
  configure: (it) => addIdOption(it).option('--month <month>', 'a month in UTC: 2027-03', parseMonth),
  run: async (context, options) => {
    const ref = await readLicenseRef(context, options);
    const month = textOption(options, 'month');
    const items = await inReadOnlyTransaction(context.pool, async (db) => {
      const license = await getLicense(db, ref);
      return month === undefined ? listCurrentUsage(db, license) : listUsageOfMonth(db, license, month);
    });
    return listOutput(items, {
      METER: ({ meter }) => meter,
      PERIOD: ({ period }) => period,
      USED: ({ used }) => String(used),
      LIMIT: ({ limit }) => (limit === null ? 'none' : String(limit)),
    });
  },
};

const usageLimitCommand: LicenseCommand = {
  name: 'usage limit',
  description: "Give a license its own meters, in place of its plan's of the same name",
  configure: (it) => addMeterOptions(addIdOption(it)),
  run: async (context, options) => {
    if (options['meter'] === undefined && options['dropMeter'] === undefined)
      throw new RefusedError('no_meters', 'give --meter or --drop-meter');
    const ref = await readLicenseRef(context, options);
    return licenseOutput(
      await inTransaction(context.pool, (db) => setMeters(db, ref, (own) => applyMeterOptions(options, own))),
    );
  },
};

const usageResetCommand: LicenseCommand = {
  name: 'usage reset',
  description: 'Set the usage of a meter in the current period to zero',
  configure: (it) => addIdOption(it).argument('<meter>', 'the name of the meter'),
  run: async (context, options, [meter = '']) => {
    const ref = await readLicenseRef(context, options);
    const { license, before } = await inTransaction(context.pool, (db) => resetUsage(db, ref, meter));
    return {
      json: { licenseId: license.id, before },
      lines: [`${meter} of license …${license.hint} in ${before.period}: ${before.used} reset to 0.`],
    };
  },
};

export const usageCommands = [usageShowCommand, usageLimitCommand, usageResetCommand];
