/** Usage in the output of Gemini CLI with `--output-format stream-json` or `json`. It reports no costs. */
import { z } from 'zod';
import { type ModelUsage, ReportedModel, TokenCount, type UsageReader } from './model-usage.ts';

const InitEvent = z.object({ type: z.literal('init'), model: ReportedModel });

/** Token counts of `stream-json`. `output_tokens` do not contain thoughts, but `total_tokens` do. */
const StreamTokens = z.object({
  input_tokens: TokenCount,
  output_tokens: TokenCount,
  total_tokens: TokenCount,
  cached: TokenCount,
});
const ResultEvent = z.object({
  type: z.literal('result'),
  stats: StreamTokens.extend({ models: z.record(ReportedModel, StreamTokens).optional() }),
});

const ModelStats = z.object({
  tokens: z.object({ prompt: TokenCount, candidates: TokenCount, total: TokenCount, cached: TokenCount }),
});
const JsonOutput = z.object({ stats: z.object({ models: z.record(ReportedModel, ModelStats) }) });

/** The prompt contains the cached tokens. */
const usageOf = (
  model: string,
  counts: Readonly<Record<'prompt' | 'output' | 'total' | 'cached', number>>,
): ModelUsage => ({
  ...{ model, currency: 'USD', cachedTokens: counts.cached },
  inputTokens: Math.max(0, counts.prompt - counts.cached),
  outputTokens: Math.max(counts.output, counts.total - counts.prompt),
});

const usageOfStream = (model: string, tokens: z.infer<typeof StreamTokens>): ModelUsage =>
  usageOf(model, {
    ...{ prompt: tokens.input_tokens, output: tokens.output_tokens },
    ...{ total: tokens.total_tokens, cached: tokens.cached },
  });

export function createGeminiUsageReader(fallbackModel: string): UsageReader {
  let model = fallbackModel;
  return (event) => {
    model = InitEvent.safeParse(event).data?.model ?? model;
    const stats = ResultEvent.safeParse(event).data?.stats;
    if (stats !== undefined)
      return {
        kind: 'total',
        usage: Object.entries(stats.models ?? { [model]: stats }).map(([name, tokens]) =>
          usageOfStream(name, tokens),
        ),
      };
    const models = JsonOutput.safeParse(event).data?.stats.models;
    if (models === undefined) return undefined;
    return {
      kind: 'total',
      usage: Object.entries(models).map(([name, { tokens }]) =>
        usageOf(name, { ...tokens, output: tokens.candidates }),
      ),
    };
  };
}
