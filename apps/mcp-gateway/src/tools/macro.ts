/**
 * Tools that perform several operations as one step of work. A macro reads and validates before its first
 * write, and undoes earlier writes if a later one is refused. If undoing is impossible, the error lists what
 * was done.
 */
import { randomUUID } from 'node:crypto';
import { MusterError, NoAnswer } from '@muster/client';
import { plainIssueMessages, type Operation, type Signal } from '@muster/contract';
import { type Tool } from '@modelcontextprotocol/server';
import { type z } from 'zod';
import { type AnswerBody, countFitting } from '../answers/answers.ts';
import { leanWork } from '../answers/lean.ts';
import { ConfirmationRequired } from '../calls/confirming.ts';
import { applyProject, performStep, type ToolCall } from '../calls/calls.ts';
import { digest } from '../calls/intents.ts';
import { translateFailurePaths } from '../calls/explained.ts';
import { invalidParametersError } from '../calls/issues.ts';
import { modes, type ToolListMode } from './modes.ts';
import { addParameterDescriptions } from './parameter-words.ts';
import { repairArguments } from '../calls/repair.ts';
import { type ObjectSchema, compactParamsSchema, fullParamsSchema } from './schemas.ts';
import { defaultAnswerBytes, asInputSchema, toolTitleOf, removeProjectParam } from './tools.ts';

export interface MacroTool {
  readonly kind: 'macro';
  readonly name: string;
  readonly toolset: 'work';
  /** The operations of all steps, including those that are not tools themselves. */
  readonly operations: readonly Operation[];
  readonly fullParams: ObjectSchema;
  readonly tool: Tool;
  readonly withoutProject: Tool;
  /** The tool lists that contain the tool. The others leave it out, because a tool in them does the same. */
  readonly listedIn: readonly ToolListMode[];
  readonly run: (args: AnswerBody, call: ToolCall) => Promise<AnswerBody>;
}

/** The error of a tool whose step failed after earlier steps had succeeded. */
export class PartialFailure extends Error {
  readonly failure: MusterError | NoAnswer;
  readonly step: string;
  readonly done: AnswerBody;

  constructor(failure: MusterError | NoAnswer, step: string, done: AnswerBody) {
    super(failure.message, { cause: failure });
    this.name = 'HalfDone';
    this.failure = failure;
    this.step = step;
    this.done = done;
  }
}

/**
 * A failure together with signals from earlier steps. The API delivers each signal only once, so the failure
 * must carry them.
 */
export class FailureWithSignals extends Error {
  readonly failure: unknown;
  readonly signals: readonly Signal[];

  constructor(failure: unknown, signals: readonly Signal[]) {
    super('refused, with signals', { cause: failure });
    this.name = 'Heard';
    this.failure = failure;
    this.signals = signals;
  }
}

type RunStep = (operation: Operation, params: AnswerBody) => Promise<AnswerBody>;

export interface MacroSteps {
  /** Uploads the content of an attachment to its signed address. */
  readonly putFile: (url: string, content: string) => Promise<void>;
  /** Calls an operation. If a later step fails, the error does not include the result of this call. */
  readonly callStep: RunStep;
  /** Like `look`, but returns the whole result. Use it for values that later steps read or write again. */
  readonly callStepUncut: RunStep;
  /** Performs a write. If a later write fails, the error includes the result of this write. */
  readonly writeStep: RunStep;
  /** Runs `work`. If it is refused, runs `undo` and throws the refusal as if nothing had been done. */
  readonly runOrUndo: (work: () => Promise<AnswerBody>, undo: () => Promise<unknown>) => Promise<AnswerBody>;
  /**
   * Creates a runId for a caller that gave none. Two calls get different ones, unless the client's own
   * idempotency key says that they are the same call.
   */
  readonly createRunId: () => string;
  /**
   * Returns the signals from all results, oldest first. If they do not fit, the newest are kept, as in the
   * API.
   */
  readonly receivedSignals: () => readonly Signal[];
}

function createMacroSteps(args: AnswerBody, call: ToolCall): MacroSteps {
  const done: Record<string, unknown> = {};
  const times = new Map<string, number>();
  const heard = new Map<number, Signal>();
  const stepWith =
    (own: Partial<ToolCall>): RunStep =>
    async (operation, params) => {
      const count = times.get(operation.name) ?? 0;
      times.set(operation.name, count + 1);
      const { key, isOwn } = call.intent;
      const intent = count === 0 ? call.intent : { key: digest(key, count.toString()), isOwn };
      try {
        const answer = await performStep(operation, params, { ...call, ...own, intent });
        for (const signal of (answer['signals'] ?? []) as Signal[]) heard.set(signal.seq, signal);
        return answer;
      } catch (failure) {
        throw translateFailurePaths(failure, args, params);
      }
    };
  const look = stepWith({});
  return {
    putFile: call.putFile,
    callStep: look,
    callStepUncut: stepWith({ defaultMaxBytes: Infinity }),
    writeStep: async (operation, params) => {
      try {
        const answer = await look(operation, params);
        done[operation.name] = answer;
        return answer;
      } catch (failure) {
        const isKnown = failure instanceof MusterError || failure instanceof NoAnswer;
        if (!isKnown || Object.keys(done).length === 0) throw failure;
        throw new PartialFailure(failure, operation.name, done);
      }
    },
    runOrUndo: async (work, undo) => {
      try {
        return await work();
      } catch (failure) {
        // Without a response the step may have succeeded, so earlier steps must not be undone.
        if (!(failure instanceof PartialFailure) || failure.failure instanceof NoAnswer) throw failure;
        const isUndone = await undo().then(
          () => true,
          () => false,
        );
        throw isUndone ? failure.failure : failure;
      }
    },
    createRunId: () => {
      const { key, isOwn } = call.intent;
      return `run-${(isOwn ? digest(key, 'runId') : randomUUID()).slice(0, 8)}`;
    },
    receivedSignals: () => {
      const newest = [...heard.values()].sort((a, b) => b.seq - a.seq);
      return newest.slice(0, countFitting(newest, defaultAnswerBytes)).reverse();
    },
  };
}

interface MacroDefinition<Params extends z.ZodObject> {
  readonly name: string;
  readonly description: string;
  readonly params: Params;
  readonly steps: readonly Operation[];
  readonly listedIn?: readonly ToolListMode[];
  readonly run: (params: z.output<Params>, steps: MacroSteps) => Promise<AnswerBody>;
}

export function defineMacro<Params extends z.ZodObject>(definition: MacroDefinition<Params>): MacroTool {
  const { name, description, params } = definition;
  const stated = fullParamsSchema(params);
  const inputSchema = addParameterDescriptions(compactParamsSchema(params));
  const takesProject = 'projectId' in params.shape;
  const tool: Tool = {
    name,
    title: toolTitleOf(name),
    description,
    inputSchema: asInputSchema(inputSchema),
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  };
  return {
    kind: 'macro',
    name,
    toolset: 'work',
    listedIn: definition.listedIn ?? modes,
    operations: definition.steps,
    fullParams: stated,
    tool,
    withoutProject: takesProject
      ? { ...tool, inputSchema: asInputSchema(removeProjectParam(inputSchema)) }
      : tool,
    run: async (args, call) => {
      const parsed = params.safeParse(
        applyProject({ takesProject }, repairArguments(stated, args), call.view),
        plainIssueMessages,
      );
      if (!parsed.success) throw invalidParametersError(parsed.error, Object.keys(inputSchema.properties));
      const steps = createMacroSteps(parsed.data, call);
      try {
        const answer = await definition.run(parsed.data, steps);
        const signals = steps.receivedSignals();
        const whole = signals.length === 0 ? answer : { ...answer, signals };
        return call.isLean === true ? leanWork(parsed.data, whole) : whole;
      } catch (failure) {
        const signals = steps.receivedSignals();
        throw signals.length === 0 || failure instanceof ConfirmationRequired
          ? failure
          : new FailureWithSignals(failure, signals);
      }
    },
  };
}

/** Omits parameters that are undefined or null, so that the contract's defaults apply. */
export const dropUnsetParams = (params: AnswerBody): AnswerBody =>
  Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined && value !== null));
