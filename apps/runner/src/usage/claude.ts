/** Usage in the output of Claude Code with `--output-format stream-json` or `json`. */
import { z } from 'zod';
import {
  addedUsage,
  CostMicros,
  type ModelUsage,
  ReportedModel,
  TokenCount,
  type UsageReader,
} from './model-usage.ts';

const Tokens = z
  .object({
    input_tokens: TokenCount,
    output_tokens: TokenCount,
    cache_read_input_tokens: TokenCount,
    cache_creation_input_tokens: TokenCount,
  })
  .transform((tokens) => ({
    inputTokens: tokens.input_tokens + tokens.cache_creation_input_tokens,
    outputTokens: tokens.output_tokens,
    cachedTokens: tokens.cache_read_input_tokens,
  }));

const AssistantEvent = z.object({
  type: z.literal('assistant'),
  message: z.object({ id: z.string(), model: ReportedModel, usage: Tokens }),
});

const ResultEvent = z.object({
  type: z.literal('result'),
  usage: Tokens,
  total_cost_usd: CostMicros.optional(),
  modelUsage: z
    .record(
      ReportedModel,
      z
        .object({
          inputTokens: TokenCount,
          outputTokens: TokenCount,
          cacheReadInputTokens: TokenCount,
          cacheCreationInputTokens: TokenCount,
          costUSD: CostMicros.optional(),
        })
        .transform((used) => ({
          inputTokens: used.inputTokens + used.cacheCreationInputTokens,
          outputTokens: used.outputTokens,
          cachedTokens: used.cacheReadInputTokens,
          costMicros: used.costUSD,
        })),
    )
    .optional(),
});

/** Enough for the responses of parallel subagents whose events alternate. */
const maxRememberedResponses = 100;

export function createClaudeUsageReader(fallbackModel: string): UsageReader {
  let latestModel = fallbackModel;
  /** The counted usage of the latest responses. Each block of a response is an event with the usage of all of it. */
  const counted = new Map<string, ModelUsage>();
  return (event) => {
    const response = AssistantEvent.safeParse(event).data?.message;
    if (response !== undefined) {
      const { id, model } = response;
      // Claude Code invents messages of this model for its own notices.
      if (model === '<synthetic>') return undefined;
      latestModel = model;
      const usage = { model, currency: 'USD', ...response.usage };
      const before = counted.get(id);
      counted.delete(id);
      counted.set(id, usage);
      for (const oldest of counted.keys()) if (counted.size > maxRememberedResponses) counted.delete(oldest);
      return { kind: 'increase', usage: [addedUsage(usage, before)] };
    }
    const result = ResultEvent.safeParse(event).data;
    if (result === undefined) return undefined;
    const { usage, total_cost_usd: costMicros } = result;
    const modelUsage = result.modelUsage ?? { [latestModel]: { ...usage, costMicros } };
    return {
      kind: 'total',
      usage: Object.entries(modelUsage).map(([model, used]) => ({ model, currency: 'USD', ...used })),
    };
  };
}
