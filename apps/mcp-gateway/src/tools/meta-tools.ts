/** Tools that find and call operations outside the tool list, for clients that support few tools. */
import {
  type ApiError,
  badRequest,
  plainIssueMessages,
  type Operation,
  reasons,
  unknownOperation,
} from '@muster/contract';
import { operations } from '@muster/registry';
import { findSimilarNames } from '@muster/http';
import { type Tool } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { type AnswerBody } from '../answers/answers.ts';
import { callOperation, narrowedError, type ToolCall } from '../calls/calls.ts';
import { invalidParametersError } from '../calls/issues.ts';
import { macros } from './macros.ts';
import { repairArguments } from '../calls/repair.ts';
import { type ObjectSchema, compactParamsSchema, fullParamsSchema } from './schemas.ts';
import { findOperations } from './search.ts';
import {
  asInputSchema,
  operationTool,
  operationTools,
  type OperationTool,
  contractProseOf,
  toolTitleOf,
  removeProjectParam,
} from './tools.ts';

export interface MetaTool {
  readonly kind: 'meta';
  readonly name: string;
  readonly toolset: 'meta';
  /** True if the tool calls operations, rather than describing them. */
  readonly callsOthers: boolean;
  readonly fullParams: ObjectSchema;
  readonly tool: Tool;
  readonly withoutProject: Tool;
  readonly run: (args: AnswerBody, call: ToolCall) => Promise<AnswerBody>;
}

const operationNameParam = z.string().trim().meta({ description: 'Such as stories.list' });
const operationParams = z
  .record(z.string(), z.unknown())
  .default({})
  .meta({ description: "The operation's own parameters" });

interface MetaToolDefinition<Params extends z.ZodObject> {
  readonly name: string;
  readonly description: string;
  readonly isRead: boolean;
  readonly callsOthers?: boolean;
  readonly params: Params;
  readonly run: (params: z.output<Params>, call: ToolCall) => AnswerBody | Promise<AnswerBody>;
}

function defineMetaTool<Params extends z.ZodObject>({
  name,
  description,
  isRead,
  callsOthers = false,
  params,
  run,
}: MetaToolDefinition<Params>): MetaTool {
  const tool: Tool = {
    name,
    title: toolTitleOf(name),
    description,
    inputSchema: asInputSchema(compactParamsSchema(params)),
    // The effect depends on the operation that is called, so the annotations declare the worst case.
    annotations: {
      readOnlyHint: isRead,
      destructiveHint: !isRead,
      idempotentHint: isRead,
      openWorldHint: false,
    },
  };
  const stated = fullParamsSchema(params);
  return {
    kind: 'meta',
    name,
    toolset: 'meta',
    callsOthers,
    fullParams: stated,
    tool,
    withoutProject: tool,
    run: async (args, call) => {
      const parsed = params.safeParse(repairArguments(stated, args), plainIssueMessages);
      if (parsed.success) return run(parsed.data, call);
      throw invalidParametersError(parsed.error, Object.keys(stated.properties));
    },
  };
}

const macroNames: ReadonlySet<string> = new Set(macros.map((macro) => macro.name));

function findAllowedOperation(name: string, { view }: ToolCall): OperationTool {
  const tool = operationTool(name);
  if (macroNames.has(name))
    throw badRequest(`${name} is a tool itself.`, [
      { path: 'operation', message: 'is a tool: call it directly by its name' },
    ]);
  if (tool === undefined && operations.has(name))
    throw narrowedError(`${name} is for people, in the console or over HTTP; no tool calls it.`);
  if (tool === undefined) {
    const didYouMean = findSimilarNames(
      name,
      operationTools.map(({ operation }) => operation.name),
    );
    throw unknownOperation(didYouMean);
  }
  if (!view.allows(tool))
    throw narrowedError(`${tool.operation.name} is not available, because this connection is restricted.`);
  return tool;
}

function searchOperations(query: string, limit: number, { view, mayUse }: ToolCall): AnswerBody {
  const found = findOperations(query).filter((tool) => view.allows(tool) && mayUse(tool));
  return {
    items: found.slice(0, limit).map(({ operation }) => ({
      operation: operation.name,
      effect: operation.effect,
      summary: operation.summary,
    })),
    found: found.length,
    ...(found.length === 0 && {
      namespaces: [...new Set(operationTools.map(({ toolset }) => toolset))],
    }),
  };
}

function describeOperation({ operation, clearablePaths }: OperationTool, { view }: ToolCall): AnswerBody {
  const { name, effect, params, result, refusals, example } = operation;
  const schema = compactParamsSchema(params, clearablePaths);
  const { projectId: _, ...others } = example;
  return {
    operation: name,
    callWith: effect === 'read' ? 'call_read_operation' : 'call_write_operation',
    description: contractProseOf(operation),
    params: view.project === null ? schema : removeProjectParam(schema),
    returns: Object.keys(result.shape),
    refusals: refusals.map((reason) => ({
      reason,
      meaning: reasons[reason].meaning,
      remedy: reasons[reason].remedy,
    })),
    example: view.project === null ? example : others,
  };
}

const wrongEffectError = ({ name, effect }: Operation): ApiError =>
  badRequest(`${name} is a ${effect} operation.`, [
    { path: 'operation', message: `must be called with call_${effect}_operation` },
  ]);

export const metaTools: readonly MetaTool[] = [
  defineMetaTool({
    name: 'search_operations',
    description: 'Find operations by what they do.',
    isRead: true,
    params: z.strictObject({
      query: z.string().max(200).meta({ description: 'Such as "assign a reviewer"' }),
      limit: z.int().min(1).max(50).default(10),
    }),
    run: ({ query, limit }, call) => searchOperations(query, limit, call),
  }),
  defineMetaTool({
    name: 'describe_operation',
    description: 'Details of one operation: parameters, result, errors, an example.',
    isRead: true,
    params: z.strictObject({ operation: operationNameParam }),
    run: ({ operation }, call) => describeOperation(findAllowedOperation(operation, call), call),
  }),
  ...(['read', 'write'] as const).map((effect) =>
    defineMetaTool({
      name: `call_${effect}_operation`,
      description: `Call a ${effect} operation.`,
      isRead: effect === 'read',
      callsOthers: true,
      params: z.strictObject({ operation: operationNameParam, params: operationParams }),
      run: ({ operation, params }, call) => {
        const tool = findAllowedOperation(operation, call);
        if (tool.operation.effect !== effect) throw wrongEffectError(tool.operation);
        return callOperation(tool, params, call);
      },
    }),
  ),
];
