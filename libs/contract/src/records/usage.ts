/** Tokens and costs of runs, the prices of models, and budgets. Amounts are millionths of a currency. */
import { z } from 'zod';
import { AgentParam, boundedText, Day, Id, ProjectRef, StoryRef, Time, Version } from '../kernel/values.ts';
import { Actor } from './member.ts';

const maxCount = 1_000_000_000_000_000;
const Count = z.int().min(0).max(maxCount);

/** An ISO 4217 code. */
export const Currency = z.string().regex(/^[A-Z]{3}$/, 'must be an ISO 4217 code such as USD');

/** The name of a model, as the vendor writes it. */
export const ModelName = boundedText(120, 1);

/**
 * The totals of a run since it began, and not differences. The highest reported value of each counter counts.
 * `inputTokens` do not contain `cachedTokens`.
 */
export const UsageReport = z.strictObject({
  model: ModelName,
  inputTokens: Count.optional(),
  outputTokens: Count.optional(),
  cachedTokens: Count.optional(),
  costMicros: Count.optional(),
  currency: Currency.default('USD'),
});
export type UsageReport = z.infer<typeof UsageReport>;

const tokenCounts = { inputTokens: z.int(), outputTokens: z.int(), cachedTokens: z.int() };

/** The totals of a run, per model and currency. */
export const RunUsage = z
  .object({ model: z.string(), currency: z.string(), ...tokenCounts, costMicros: z.int() })
  .meta({ id: 'RunUsage' });
export type RunUsage = z.infer<typeof RunUsage>;

export const usageGroupings = [
  'project',
  'epic',
  'story',
  'agent',
  'member',
  'model',
  'day',
  'week',
] as const;
export type UsageGrouping = (typeof usageGroupings)[number];

export const UsageSum = z
  .object({
    key: z
      .object({ id: z.string().nullable(), name: z.string() })
      .describe(
        'id is null for work without an epic, story or agent; of a day it is the date, of a week its Monday',
      ),
    runs: z.int(),
    ...tokenCounts,
    costMicros: z.int(),
    currency: z.string(),
    landed: z
      .int()
      .describe('Stories of these runs that are done and, if their project has a linked repository, merged'),
    costPerLanded: z.int().nullable().describe('costMicros divided by landed'),
  })
  .meta({ id: 'UsageSum' });
export type UsageSum = z.infer<typeof UsageSum>;

/** The prices of the models whose names begin with `model`, per million tokens. */
export const UsagePrice = z
  .object({
    model: z.string(),
    currency: z.string(),
    validFrom: Day,
    inputMicros: z.int(),
    outputMicros: z.int(),
    cachedMicros: z.int(),
    source: z.enum(['organization', 'default']),
  })
  .meta({ id: 'UsagePrice' });
export type UsagePrice = z.infer<typeof UsagePrice>;
export const PriceMicros = Count;

export const budgetScopes = ['org', 'project', 'agent', 'story'] as const;
export const BudgetScope = z.enum(budgetScopes);
export type BudgetScope = z.infer<typeof BudgetScope>;

const budgetTargetSchemas = { project: ProjectRef, agent: AgentParam, story: StoryRef };

/** Returns the reference to the record of a budget in its normal form; undefined if it does not fit the scope. */
export function parseBudgetTarget(
  scope: Exclude<BudgetScope, 'org'>,
  targetId: string | undefined,
): string | undefined {
  return budgetTargetSchemas[scope].safeParse(targetId).data?.replace(/^@/, '');
}

/** Returns true if the target fits the scope. */
export const isBudgetTarget = (params: {
  readonly scope: BudgetScope;
  readonly targetId?: string | undefined;
}): boolean =>
  params.scope === 'org'
    ? params.targetId === undefined
    : parseBudgetTarget(params.scope, params.targetId) !== undefined;

export const BudgetPeriod = z.enum(['day', 'month', 'total']);
export const BudgetAction = z.enum(['notify', 'stop']);
export const BudgetAmount = z.int().min(1).max(maxCount);

export const Budget = z
  .object({
    id: Id,
    scope: BudgetScope,
    target: z
      .object({ id: Id, name: z.string() })
      .nullable()
      .describe('The project, agent or story; null for the organization'),
    projectId: Id.nullable(),
    amountMicros: z.int(),
    currency: z.string(),
    period: BudgetPeriod,
    action: BudgetAction,
    spentMicros: z.int().describe('The reported costs of the current period'),
    state: z.enum(['ok', 'warning', 'exceeded']).describe('warning from 80 percent on'),
    setBy: Actor,
    createdAt: Time,
    updatedAt: Time,
    version: Version,
  })
  .meta({ id: 'Budget' });
export type Budget = z.infer<typeof Budget>;
