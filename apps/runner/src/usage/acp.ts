/**
 * Usage that agents report by the Agent Client Protocol: costs in `usage_update`, and tokens in `_meta.quota` of a
 * turn's response, where the adapters of Claude Code and Codex and Gemini CLI put them. The protocol itself has no
 * token counts yet.
 */
import { Currency } from '@muster/contract';
import { z } from 'zod';
import { CostMicros, type ModelUsage, ReportedModel, TokenCount, type UsageChange } from './model-usage.ts';

const UsageUpdate = z.object({
  sessionUpdate: z.literal('usage_update'),
  cost: z.object({ amount: CostMicros, currency: Currency }),
  _meta: z.object({ '_claude/model': ReportedModel.optional().catch(undefined) }).nullish(),
});

/** The names in camel case are those of the adapters, the others those of Gemini CLI. */
const QuotaTokens = z.object({
  inputTokens: TokenCount,
  outputTokens: TokenCount,
  cachedInputTokens: TokenCount,
  cachedWriteTokens: TokenCount,
  cacheWriteInputTokens: TokenCount,
  input_tokens: TokenCount,
  output_tokens: TokenCount,
});
const TurnMeta = z.object({
  quota: z.object({ model_usage: z.array(z.object({ model: ReportedModel, token_count: QuotaTokens })) }),
});

export interface AcpUsageReader {
  readonly readUpdate: (update: unknown) => UsageChange | undefined;
  /** Call this if the session continues an earlier one of the run, whose costs its total may contain. */
  readonly continueSession: (totals: readonly ModelUsage[]) => void;
  /** Reads the metadata of a turn's response. */
  readonly readTurn: (meta: unknown) => UsageChange | undefined;
}

/** Creates a reader for one process of the agent. A cost without a model counts for `fallbackModel`. */
export function createAcpUsageReader(fallbackModel: string): AcpUsageReader {
  let sessionCost: number | undefined;
  let currency = 'USD';
  const increase = (usage: readonly ModelUsage[]): UsageChange => ({ kind: 'increase', usage });
  return {
    continueSession: (totals) => {
      for (const usage of totals) {
        if (usage.costMicros === undefined) continue;
        ({ currency } = usage);
        sessionCost = (sessionCost ?? 0) + usage.costMicros;
      }
    },
    readUpdate: (update) => {
      const { cost, _meta: meta } = UsageUpdate.safeParse(update).data ?? {};
      if (cost === undefined) return undefined;
      // The cost is a total of the session, whose model may change.
      const isRestarted =
        sessionCost === undefined || cost.amount < sessionCost || cost.currency !== currency;
      const costMicros = isRestarted ? cost.amount : cost.amount - (sessionCost ?? 0);
      ({ amount: sessionCost, currency } = cost);
      const model = meta?.['_claude/model'] ?? fallbackModel;
      return increase([{ model, currency, inputTokens: 0, outputTokens: 0, cachedTokens: 0, costMicros }]);
    },
    readTurn: (meta) => {
      const rows = TurnMeta.safeParse(meta).data?.quota.model_usage;
      if (rows === undefined) return undefined;
      return increase(
        rows.map(({ model, token_count: tokens }) => ({
          ...{ model, currency, cachedTokens: tokens.cachedInputTokens },
          inputTokens:
            tokens.inputTokens +
            tokens.cachedWriteTokens +
            tokens.cacheWriteInputTokens +
            tokens.input_tokens,
          outputTokens: tokens.outputTokens + tokens.output_tokens,
          // The cost of the session covers all of its models, so no tokens must be priced in addition.
          ...(sessionCost !== undefined && { costMicros: 0 }),
        })),
      );
    },
  };
}
