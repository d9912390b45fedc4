/** The form into which the usage that agents report is translated, and the parts that all formats share. */
import { ModelName, type UsageReport } from '@muster/contract';
import { z } from 'zod';

export type ModelUsage = UsageReport & {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
};

/** Usage that an agent reported: totals since its process started, or an increase. */
export interface UsageChange {
  readonly kind: 'total' | 'increase';
  readonly usage: readonly ModelUsage[];
}

/** Reads one event of an agent's output. Returns undefined if the event reports no usage. */
export type UsageReader = (event: unknown) => UsageChange | undefined;

/** A number of tokens. Agents leave out counts that they do not know, or report null. */
export const TokenCount = z
  .int()
  .min(0)
  .max(1_000_000_000_000)
  .nullish()
  .transform((count) => count ?? 0);

/** A cost in a currency's main unit, as millionths of it. */
export const CostMicros = z
  .number()
  .min(0)
  .max(1_000_000)
  .transform((cost) => Math.round(cost * 1_000_000));

/** A name of a model, without a suffix such as `[1m]`, which only some events of an agent contain. */
export const ReportedModel = z
  .string()
  .transform((name) => name.replace(/\[.*\]$/, ''))
  .pipe(ModelName);

export const sumUsage = (one: ModelUsage, other: ModelUsage | undefined): ModelUsage =>
  combineUsage(one, other, (left, right) => left + right);

export const maxUsage = (one: ModelUsage, other: ModelUsage | undefined): ModelUsage =>
  combineUsage(one, other, Math.max);

/** Returns the part of the usage that was not counted before. */
export const addedUsage = (usage: ModelUsage, before: ModelUsage | undefined): ModelUsage =>
  combineUsage(usage, before, (now, then) => Math.max(0, now - then));

function combineUsage(
  one: ModelUsage,
  other: ModelUsage | undefined,
  combine: (left: number, right: number) => number,
): ModelUsage {
  if (other === undefined) return one;
  const costMicros =
    one.costMicros === undefined && other.costMicros === undefined
      ? undefined
      : combine(one.costMicros ?? 0, other.costMicros ?? 0);
  return {
    ...{ model: one.model, currency: one.currency },
    inputTokens: combine(one.inputTokens, other.inputTokens),
    outputTokens: combine(one.outputTokens, other.outputTokens),
    cachedTokens: combine(one.cachedTokens, other.cachedTokens),
    ...(costMicros !== undefined && { costMicros }),
  };
}
