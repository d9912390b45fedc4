import { z } from 'zod';
import {
  org,
  operation,
  surfacesWithoutTool,
  pageParams,
  pageSchemaOf,
  AgentParam,
  Day,
  Instant,
  ProjectRef,
  StoryRef,
  Currency,
  ModelName,
  PriceMicros,
  usageGroupings,
  UsagePrice,
  UsageSum,
} from '@muster/contract';

const prices = {
  set: operation({
    name: 'usage.prices.set',
    effect: 'write',
    idempotent: true,
    summary: "Set the organization's price of a model",
    keywords: 'cost tokens price list rate million',
    description:
      'Prices are per million tokens. They apply to reports that state tokens and no cost, in runs that first report on validFrom or later. model is also the beginning of the names to which the price applies; the longest one wins. Costs that were counted before stay as they are.',
    access: org('admin'),
    byMemberOnly: true,
    auditsRefusal: true,
    surfaces: surfacesWithoutTool,
    params: z.strictObject({
      model: ModelName,
      currency: Currency.default('USD'),
      inputMicros: PriceMicros,
      outputMicros: PriceMicros,
      cachedMicros: PriceMicros.optional().meta({ description: 'By default the price of input tokens' }),
      validFrom: Day.optional().meta({ description: 'By default today, in UTC' }),
    }),
    result: z.object({ price: UsagePrice }),
    refusals: ['limit_exceeded'],
    example: {
      ...{ model: 'claude-sonnet-4', validFrom: '2026-11-01' },
      ...{ inputMicros: 2_500_000, outputMicros: 12_000_000, cachedMicros: 250_000 },
    },
  }),
  list: operation({
    name: 'usage.prices.list',
    effect: 'read',
    summary: 'List the prices of models',
    keywords: 'cost tokens price rate million default',
    description:
      'By model, newest first. Prices of the organization replace built-in ones (source: default) of the same beginning of a name.',
    access: org('viewer'),
    surfaces: surfacesWithoutTool,
    params: z.strictObject({ ...pageParams }),
    result: pageSchemaOf(UsagePrice),
    example: {},
  }),
};

export const usage = {
  summary: operation({
    name: 'usage.summary',
    effect: 'read',
    summary: 'Sum the tokens and costs of runs',
    keywords: 'spend money price tokens bill report statistics cost per story agent model budget',
    description:
      'Per group and currency, highest costs first; days and weeks newest first. Only projects that you may see. Counts the whole UTC days from `from` to `to`, by default the last 30.',
    access: org('viewer'),
    surfaces: surfacesWithoutTool,
    params: z.strictObject({
      groupBy: z.enum(usageGroupings),
      projectId: ProjectRef.optional(),
      storyId: StoryRef.optional(),
      agentId: AgentParam.optional(),
      from: Instant.optional(),
      to: Instant.optional(),
      ...pageParams,
    }),
    result: pageSchemaOf(UsageSum),
    example: { groupBy: 'story', projectId: 'WEB' },
  }),
  prices,
};
