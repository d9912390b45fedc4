/** Usage in the output of `codex exec --json`, which names no model and reports no costs. */
import { z } from 'zod';
import { TokenCount, type UsageReader } from './model-usage.ts';

/** The counts are totals of the thread. `input_tokens` contain `cached_input_tokens`. */
const TurnCompletedEvent = z.object({
  type: z.literal('turn.completed'),
  usage: z.object({
    input_tokens: TokenCount,
    cached_input_tokens: TokenCount,
    output_tokens: TokenCount,
  }),
});

export const createCodexUsageReader =
  (model: string): UsageReader =>
  (event) => {
    const usage = TurnCompletedEvent.safeParse(event).data?.usage;
    if (usage === undefined) return undefined;
    const { input_tokens: inputTokens, cached_input_tokens: cachedTokens } = usage;
    return {
      kind: 'total',
      usage: [
        {
          ...{ model, currency: 'USD', cachedTokens, outputTokens: usage.output_tokens },
          inputTokens: Math.max(0, inputTokens - cachedTokens),
        },
      ],
    };
  };
