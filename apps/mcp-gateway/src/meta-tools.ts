/** Finding and calling operations that are not in the list: for clients that take few tools. */
import { ApiError, badRequest, type Operation, reasons } from '@muster/registry';
import { closestTo } from '@muster/service';
import { type Tool } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { type Answer } from './answers.ts';
import { callOperation, outside, type ToolCall } from './calls.ts';
import { remedyOf } from './hints.ts';
import { paramsSchema } from './schemas.ts';
import { asInputSchema, operationTool, operationTools, type OperationTool, withoutProject } from './tools.ts';

export interface MetaTool {
  readonly kind: 'meta';
  readonly name: string;
  readonly toolset: 'meta';
  readonly tool: Tool;
  readonly withoutProject: Tool;
  readonly run: (args: Answer, call: ToolCall) => Promise<Answer>;
}

const operationName = z.string().meta({ description: 'Such as stories.list' });
const operationParams = z
  .record(z.string(), z.unknown())
  .default({})
  .meta({ description: "The operation's own parameters" });

interface MetaStatement<Params extends z.ZodObject> {
  readonly name: string;
  readonly description: string;
  readonly isRead: boolean;
  readonly params: Params;
  readonly run: (params: z.output<Params>, call: ToolCall) => Answer | Promise<Answer>;
}

function meta<Params extends z.ZodObject>({
  name,
  description,
  isRead,
  params,
  run,
}: MetaStatement<Params>): MetaTool {
  const tool: Tool = {
    name,
    description,
    inputSchema: asInputSchema(paramsSchema(params)),
    // What a write does in the end is the operation's own; the client is told the worst.
    annotations: {
      readOnlyHint: isRead,
      destructiveHint: !isRead,
      idempotentHint: isRead,
      openWorldHint: false,
    },
  };
  return {
    kind: 'meta',
    name,
    toolset: 'meta',
    tool,
    withoutProject: tool,
    run: async (args, call) => {
      const parsed = params.safeParse(args);
      if (parsed.success) return run(parsed.data, call);
      throw badRequest(
        'The parameters do not fit.',
        parsed.error.issues.map(({ path, message }) => ({
          path: path.map(String).join('.') || 'arguments',
          message,
        })),
      );
    },
  };
}

function found(name: string, { view }: ToolCall): OperationTool {
  const tool = operationTool(name);
  if (tool === undefined) {
    const didYouMean = closestTo(
      name,
      operationTools.map(({ operation }) => operation.name),
    );
    throw new ApiError('unknown_operation', 'There is no such operation.', {
      reason: 'unknown_operation',
      retryable: false,
      ...(didYouMean.length > 0 && { didYouMean }),
    });
  }
  if (!view.allows(tool))
    throw outside(`${tool.operation.name} is outside of what this connection was narrowed to.`);
  return tool;
}

const wordsIn = (text: string): string[] =>
  text
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word.length > 1)
    // A plural finds its singular, and the other way round.
    .map((word) => word.replace(/(?<=\w{2})s$/, ''));

/** An operation's words, and how much it says that one of them was asked for. */
const weights = new Map(
  operationTools.map((tool) => {
    const { name, summary, description } = tool.operation;
    const weightOf = new Map<string, number>();
    for (const [text, weight] of [
      [description, 1],
      [summary, 3],
      [name, 4],
    ] as const) {
      for (const word of wordsIn(text)) weightOf.set(word, Math.max(weight, weightOf.get(word) ?? 0));
    }
    return [tool, weightOf] as const;
  }),
);

function search(query: string, limit: number, { view }: ToolCall): Answer {
  const asked = wordsIn(query);
  const rated = [...weights]
    .filter(([tool]) => view.allows(tool))
    .map(([tool, weightOf]) => ({
      tool,
      weight: asked.reduce((sum, word) => sum + (weightOf.get(word) ?? 0), 0),
    }))
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight);
  return {
    items: rated.slice(0, limit).map(({ tool: { operation } }) => ({
      operation: operation.name,
      effect: operation.effect,
      summary: operation.summary,
    })),
    found: rated.length,
    ...(rated.length === 0 && {
      namespaces: [...new Set(operationTools.map(({ toolset }) => toolset))],
    }),
  };
}

function describe({ operation }: OperationTool, { view }: ToolCall): Answer {
  const { name, effect, summary, description, params, result, refusals, example } = operation;
  const { projectId: _, ...others } = example;
  return {
    operation: name,
    callWith: effect === 'read' ? 'call_read_operation' : 'call_write_operation',
    description: `${summary}. ${description}`,
    params: view.project === null ? paramsSchema(params) : withoutProject(paramsSchema(params)),
    returns: Object.keys(result.shape),
    refusals: refusals.map((reason) => ({
      reason,
      meaning: reasons[reason].meaning,
      remedy: remedyOf(reason),
    })),
    example: view.project === null ? example : others,
  };
}

const wrongWay = ({ name, effect }: Operation): ApiError =>
  badRequest(`${name} is a ${effect}.`, [
    { path: 'operation', message: `is called with call_${effect}_operation` },
  ]);

export const metaTools: readonly MetaTool[] = [
  meta({
    name: 'search_operations',
    description: 'Find operations by words of what they do. Returns their names, effects and summaries.',
    isRead: true,
    params: z.strictObject({
      query: z.string().max(200).meta({ description: 'Such as "assign a reviewer"' }),
      limit: z.int().min(1).max(50).default(10).meta({ description: '1–50' }),
    }),
    run: ({ query, limit }, call) => search(query, limit, call),
  }),
  meta({
    name: 'describe_operation',
    description: 'All about one operation: parameters, result, refusals, an example.',
    isRead: true,
    params: z.strictObject({ operation: operationName }),
    run: ({ operation }, call) => describe(found(operation, call), call),
  }),
  ...(['read', 'write'] as const).map((effect) =>
    meta({
      name: `call_${effect}_operation`,
      description: `Call an operation that ${effect}s. describe_operation tells its parameters.`,
      isRead: effect === 'read',
      params: z.strictObject({ operation: operationName, params: operationParams }),
      run: ({ operation, params }, call) => {
        const tool = found(operation, call);
        if (tool.operation.effect !== effect) throw wrongWay(tool.operation);
        return callOperation(tool, params, call);
      },
    }),
  ),
];
