/** The commands `audit` and `stats`: events and statistics. */
import { minuteOf, table } from '@muster/terminal';
import { getLicense } from '../operators/license.ts';
import { reading, Refused } from '../operators/transaction.ts';
import {
  denialsOfLastDays,
  figuresByPlan,
  figuresOfTrials,
  listDenials,
  listEvents,
} from '../operators/trail.ts';
import { type LicenseCommand, number, refOf, withId } from './command.ts';
import { toCount } from './term.ts';

const usualLimit = 50;
const mostLimit = 1_000;
const days = 30;

const said = (data: Readonly<Record<string, unknown>>): string =>
  Object.entries(data)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');

export const auditCommand: LicenseCommand = {
  name: 'audit',
  description: 'Show the history of a license, and how often it was refused; newest first',
  shape: (it) =>
    withId(it)
      .option('--all', 'the events of all licenses')
      .option('--limit <number>', `how many; by default ${usualLimit}`, toCount),
  run: async (context, options) => {
    const limit = number(options, 'limit') ?? usualLimit;
    if (limit < 1 || limit > mostLimit)
      throw new Refused('limit', `the number of events must be from 1 to ${mostLimit}`);
    const ref = options['all'] === true ? undefined : await refOf(context, options);
    return reading(context.pool, async (db) => {
      const license = ref && (await getLicense(db, ref));
      const events = await listEvents(db, license?.id, limit);
      const denials = license === undefined ? [] : await listDenials(db, license.id, limit);
      return {
        json: { events, denials },
        lines: [
          ...table(
            ['WHEN', 'LICENSE', 'WHAT', 'BY', 'EPOCH', 'MORE'],
            events.map(({ at, hint, kind, actor, actorRef, epoch, data }) => [
              ...[minuteOf(at), `…${hint}`, kind, actorRef ?? actor, String(epoch), said(data)],
            ]),
          ),
          ...(denials.length === 0 ? [] : ['', 'Refused:']),
          ...(denials.length === 0
            ? []
            : table(
                ['DAY', 'BECAUSE', 'TIMES', 'LAST'],
                denials.map(({ day, outcome, count, lastAt }) => [
                  day,
                  outcome,
                  String(count),
                  minuteOf(lastAt),
                ]),
              )),
        ],
      };
    });
  },
};

export const statsCommand: LicenseCommand = {
  name: 'stats',
  description: 'Count licenses by product and plan, trials by product, and refusals in the last thirty days',
  run: ({ pool }) =>
    reading(pool, async (db) => {
      const plans = await figuresByPlan(db);
      const trials = await figuresOfTrials(db);
      const denials = await denialsOfLastDays(db, days);
      return {
        json: { plans, trials, denials },
        lines: [
          ...table(
            // The table fits into 80 columns if names are short. SEEN counts the last thirty days.
            [
              ...['PRODUCT', 'PLAN', 'ISSUED', 'BEGUN', 'BOUND', 'MACHINES', 'SEEN'],
              ...['EXPIRED', 'SUSPENDED', 'REVOKED'],
            ],
            plans.map((one) => [
              ...[one.product, one.plan],
              ...[
                one.issued,
                one.activated,
                one.bound,
                one.machines,
                one.seen,
                one.expired,
                one.suspended,
                one.revoked,
              ].map(String),
            ]),
          ),
          ...(trials.length === 0
            ? []
            : [
                '',
                ...table(
                  ['PRODUCT', 'TRIALS', 'RUNNING', 'CONVERTED'],
                  trials.map(({ product, begun, running, converted }) => [
                    product,
                    ...[begun, running, converted].map(String),
                  ]),
                ),
              ]),
          '',
          denials.length === 0
            ? 'There were no refusals in the last thirty days.'
            : `Refusals in the last thirty days: ${denials.map(({ outcome, count }) => `${outcome} ${count}`).join(', ')}.`,
        ],
      };
    }),
};
