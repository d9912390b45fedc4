/** The commands `audit` and `stats`: events and statistics. */
import { formatMinute, formatTable } from '@muster/terminal';
import { getLicense } from '../operators/license.ts';
import { inReadOnlyTransaction, RefusedError } from '../operators/transaction.ts';
import {
  countRecentDenials,
  countLicensesByPlan,
  countTrialsByProduct,
  listDenials,
  listEvents,
} from '../operators/trail.ts';
import { type LicenseCommand, numberOption, readLicenseRef, addIdOption } from './command.ts';
import { parseCount } from './term.ts';

const defaultEventLimit = 50;
const maxEventLimit = 1_000;
const statsDays = 30;

const formatEventData = (data: Readonly<Record<string, unknown>>): string =>
  Object.entries(data)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');

const auditCommand: LicenseCommand = {
  name: 'audit',
  description: 'Show the history of a license, and how often it was refused; newest first',
  configure: (it) =>
    addIdOption(it)
      .option('--all', 'the events of all licenses')
      .option('--limit <number>', `how many; by default ${defaultEventLimit}`, parseCount),
  run: async (context, options) => {
    const limit = numberOption(options, 'limit') ?? defaultEventLimit;
    if (limit < 1 || limit > maxEventLimit)
      throw new RefusedError('limit', `the number of events must be from 1 to ${maxEventLimit}`);
    const ref = options['all'] === true ? undefined : await readLicenseRef(context, options);
    return inReadOnlyTransaction(context.pool, async (db) => {
      const license = ref && (await getLicense(db, ref));
      const events = await listEvents(db, license?.id, limit);
      const denials = license === undefined ? [] : await listDenials(db, license.id, limit);
      return {
        json: { events, denials },
        lines: [
          ...formatTable(
            ['WHEN', 'LICENSE', 'WHAT', 'BY', 'EPOCH', 'MORE'],
            events.map(({ at, hint, kind, actor, actorRef, epoch, data }) => [
              formatMinute(at),
              `…${hint}`,
              kind,
              actorRef ?? actor,
              String(epoch),
              formatEventData(data),
            ]),
          ),
          ...(denials.length === 0 ? [] : ['', 'Refused:']),
          ...(denials.length === 0
            ? []
            : formatTable(
                ['DAY', 'BECAUSE', 'TIMES', 'LAST'],
                denials.map(({ day, outcome, count, lastAt }) => [
                  day,
                  outcome,
                  String(count),
                  formatMinute(lastAt),
                ]),
              )),
        ],
      };
    });
  },
};

const statsCommand: LicenseCommand = {
  name: 'stats',
  description: 'Count licenses by product and plan, trials by product, and refusals in the last thirty days',
  run: ({ pool }) =>
    inReadOnlyTransaction(pool, async (db) => {
      const plans = await countLicensesByPlan(db);
      const trials = await countTrialsByProduct(db);
      const denials = await countRecentDenials(db, statsDays);
      return {
        json: { plans, trials, denials },
        lines: [
          ...formatTable(
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
                ...formatTable(
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

export const trailCommands = [auditCommand, statsCommand];
