/**
 * Whole steps of the work as one tool. Each is only a sequence of registered operations, made with one idempotency key;
 * where one of them is refused, the answer says what was done before it.
 */
import { MusterError, NoAnswer } from '@muster/client';
import { badRequest, type Operation, registry } from '@muster/registry';
import { type Tool } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { type Answer, bytesOf } from './answers.ts';
import { perform, type ToolCall } from './calls.ts';
import { paramsSchema } from './schemas.ts';
import { answerBytes, asInputSchema, operationTool, type OperationTool } from './tools.ts';

export interface MacroTool {
  readonly kind: 'macro';
  readonly name: string;
  readonly toolset: 'work';
  readonly steps: readonly OperationTool[];
  readonly tool: Tool;
  readonly withoutProject: Tool;
  readonly run: (args: Answer, call: ToolCall) => Promise<Answer>;
}

/** A step was refused after others had been done. */
export class HalfDone extends Error {
  readonly failure: MusterError | NoAnswer;
  readonly step: string;
  readonly done: Answer;

  constructor(failure: MusterError | NoAnswer, step: string, done: Answer) {
    super(failure.message, { cause: failure });
    this.name = 'HalfDone';
    this.failure = failure;
    this.step = step;
    this.done = done;
  }
}

const { acquire, checkpoint, complete, handoff } = registry.deliveryExecutions;
const { context } = registry.storyCollaboration;
const lock = registry.locks.acquire;

const { expectedSeq: _, data: __, ...checkpointShape } = checkpoint.params.shape;

interface MacroStatement<Params extends z.ZodObject> {
  readonly name: string;
  readonly description: string;
  readonly params: Params;
  readonly steps: readonly Operation[];
  /** `step` performs an operation and keeps what came of it. */
  readonly run: (
    params: z.output<Params>,
    step: (operation: Operation, params: Answer) => Promise<Answer>,
  ) => Promise<Answer>;
}

function macro<Params extends z.ZodObject>(statement: MacroStatement<Params>): MacroTool {
  const { name, description, params } = statement;
  const tool: Tool = {
    name,
    description,
    inputSchema: asInputSchema(paramsSchema(params)),
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  };
  return {
    kind: 'macro',
    name,
    toolset: 'work',
    steps: statement.steps.flatMap((operation) => operationTool(operation.name) ?? []),
    tool,
    withoutProject: tool,
    run: async (args, call) => {
      const parsed = params.safeParse(args);
      if (!parsed.success) {
        const issues = parsed.error.issues.map(({ path, message }) => ({
          path: path.map(String).join('.') || 'arguments',
          message,
        }));
        throw badRequest('The parameters do not fit.', issues);
      }
      const done: Record<string, unknown> = {};
      return statement.run(parsed.data, async (operation, stepParams) => {
        try {
          const answer = await perform(operation, stepParams, call);
          done[operation.name] = answer;
          return answer;
        } catch (failure) {
          const isKnown = failure instanceof MusterError || failure instanceof NoAnswer;
          if (!isKnown || Object.keys(done).length === 0) throw failure;
          throw new HalfDone(failure, operation.name, done);
        }
      });
    },
  };
}

/** Without what was not given: an absent parameter means the contract's default. */
const given = (params: Answer): Answer =>
  Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined));

const Acquired = acquire.result.pick({ leaseToken: true, resumed: true }).extend({
  execution: acquire.result.shape.execution.pick({ id: true, projectId: true }),
});

export const macros: readonly MacroTool[] = [
  macro({
    name: 'start_work',
    description:
      'Begin work on a story: takes the lease, moves it to in_progress, locks the paths you name, and returns all you need to know. Keep execution.id and leaseToken for what follows. If another holds the lease or a lock, work on something else. The same runId again gives a fresh leaseToken.',
    params: z.strictObject({
      storyId: context.params.shape.storyId,
      resources: lock.params.shape.resources
        .optional()
        .meta({ description: 'Paths or globs you will change, such as src/auth/**' }),
      runId: acquire.params.shape.runId,
      ttlSeconds: acquire.params.shape.ttlSeconds,
    }),
    steps: [acquire, lock, context],
    run: async ({ storyId, resources, runId, ttlSeconds }, step) => {
      const acquired = await step(
        acquire,
        given({ targetType: 'story', targetId: storyId, runId, ttlSeconds, start: true }),
      );
      const { execution } = Acquired.parse(acquired);
      const locked =
        resources === undefined
          ? {}
          : await step(
              lock,
              given({
                projectId: execution.projectId,
                resources,
                storyId,
                executionId: execution.id,
                runId,
                ttlSeconds,
              }),
            );
      const before = { ...acquired, ...locked };
      const maxBytes = Math.max(4_096, answerBytes - bytesOf(before));
      return { ...before, context: await step(context, { storyId, maxBytes }) };
    },
  }),
  macro({
    name: 'submit_work',
    description:
      'Finish: writes a last checkpoint and completes the execution; its locks are freed and the story goes to in_review. submitted needs a branch or a pull request. stale_lease: another has it now; stop, nothing more of yours counts.',
    params: z.strictObject({
      ...checkpointShape,
      outcome: complete.params.shape.outcome.default('submitted'),
      failure: complete.params.shape.failure,
      pullRequest: complete.params.shape.pullRequest,
    }),
    steps: [checkpoint, complete],
    run: async ({ outcome, failure, pullRequest, ...written }, step) => {
      const { executionId, leaseToken, summary } = written;
      await step(checkpoint, given(written));
      return step(complete, given({ executionId, leaseToken, summary, outcome, failure, pullRequest }));
    },
  }),
  macro({
    name: 'hand_off_work',
    description:
      'Give the work to one member or agent: writes a checkpoint for them to go on from, and offers it; your lease ends.',
    params: z.strictObject({
      ...checkpointShape,
      toMemberId: handoff.params.shape.toMemberId,
      toAgentId: handoff.params.shape.toAgentId,
      note: handoff.params.shape.note,
    }),
    steps: [checkpoint, handoff],
    run: async ({ toMemberId, toAgentId, note, ...written }, step) => {
      const { executionId, leaseToken } = written;
      await step(checkpoint, given(written));
      return step(handoff, given({ executionId, leaseToken, toMemberId, toAgentId, note }));
    },
  }),
];
