/**
 * Calls operations for a model: applies the connection's restrictions, paginates, and fits results into the
 * model's context.
 */
import { type Transport } from '@muster/client';
import { ApiError, badRequest, forbidden, type Operation } from '@muster/contract';
import { registry } from '@muster/registry';
import { type AnswerBody, skipToPart, jsonBytesOf, shortenTo, countFitting } from '../answers/answers.ts';
import { type ConfirmCall } from './confirming.ts';
import { describeContextCuts } from '../answers/cut-context.ts';
import { leanAnswer } from '../answers/lean.ts';
import { explainFailure } from './explained.ts';
import { digest, type IdempotencyIntent } from './intents.ts';
import { repairArguments, applyClearParameter } from './repair.ts';
import { defaultAnswerBytes, operationTool, type OperationTool, modelPageSize } from '../tools/tools.ts';

/** The restrictions of a connection that its calls obey. */
export interface ConnectionLimits {
  /** The project that fills in every `projectId` parameter; null if the connection has none. */
  readonly project: string | null;
  /** True if calls may reach the tool, by its own name or through another tool. */
  allows(tool: OperationTool): boolean;
}

/** One tool call with its credentials, restrictions and limits. */
export interface ToolCall {
  readonly transport: Transport;
  readonly view: ConnectionLimits;
  /** True if the token has the required scope. The API decides about individual records. */
  readonly mayUse: (tool: OperationTool) => boolean;
  /** Asks a person to confirm an irreversible call; undefined if the client cannot ask. */
  readonly confirm?: ConfirmCall | undefined;
  /** The idempotency key of the whole call; each write in it derives its own key from it. */
  readonly intent: Pick<IdempotencyIntent, 'key' | 'isOwn'>;
  /** Uploads the content of an attachment to its signed address. */
  readonly putFile: (url: string, content: string) => Promise<void>;
  /** Default maximum size of a result in bytes, if the call gives no `maxBytes`. */
  readonly defaultMaxBytes?: number;
  /** True if the result is for a model, which gets its lean form. */
  readonly isLean?: boolean;
}

/** The version number of a spec that has not been written yet. */
const unwrittenSpecVersion = 0;

const minAnswerBytes = 1_000;
const maxAnswerBytes = 1_000_000;

/**
 * Parameters that make a call conditional on a version. Such a call succeeds only once, so an equal call is a
 * retry.
 */
const versionConditions = ['expectedVersion', 'baseVersion'] as const;

/**
 * Returns true if an equal call must reach the API again instead of replaying the earlier result. This is so
 * for renewals, reports and updates, because a lease would expire or a stop signal would be missed. Equal
 * calls that create a record are deduplicated.
 */
export function mustReachApiAgain({ idempotent, params, secret }: Operation, args: AnswerBody): boolean {
  if ('leaseToken' in params.shape || 'dedupeKey' in params.shape || secret !== null) return true;
  return idempotent && versionConditions.every((condition) => args[condition] === undefined);
}

/**
 * Returns the idempotency key of a write. The operation's name is part of it, because a macro performs
 * several writes.
 */
const idempotencyOptionsFor = (
  { intent: { key, isOwn } }: ToolCall,
  operation: Operation,
  params: AnswerBody,
) =>
  operation.effect === 'write' && (isOwn || !mustReachApiAgain(operation, params))
    ? { idempotencyKey: digest(key, operation.name) }
    : {};

/** Creates the error for a call that the connection's restrictions forbid. */
export const narrowedError = (message: string): ApiError => forbidden('narrowed', message);

export const isNarrowedError = (failure: unknown): boolean =>
  failure instanceof ApiError && failure.details.reason === 'narrowed';

/** Fills in the connection's project, and throws if the caller names a different one. */
export function applyProject(
  { takesProject }: Pick<OperationTool, 'takesProject'>,
  args: AnswerBody,
  { project }: ConnectionLimits,
): AnswerBody {
  if (project === null || !takesProject) return args;
  if ('projectId' in args && !isSameRef(args['projectId'], project))
    throw narrowedError(`This connection is limited to the project ${project}; omit projectId.`);
  return { ...args, projectId: project };
}

/** Converts the arguments into the API's parameters and determines the maximum size of the result. */
function prepareCall(
  tool: OperationTool,
  args: AnswerBody,
  { view, defaultMaxBytes = defaultAnswerBytes }: ToolCall,
) {
  const { operation, isList, fullParams, clearablePaths } = tool;
  const {
    maxBytes: asked,
    part,
    ...others
  } = applyClearParameter(clearablePaths, repairArguments(fullParams, args));
  const maxBytes = asked === null ? undefined : asked;
  const isOwn = 'maxBytes' in operation.params.shape;
  const isRead = operation.effect === 'read';
  if (maxBytes !== undefined && (!isRead || (!isOwn && !isValidMaxBytes(maxBytes)))) {
    const message = isRead
      ? `must be a whole number from ${minAnswerBytes} to ${maxAnswerBytes}`
      : 'is supported only for reads; the answer of a write is short';
    throw badRequest('The parameters are invalid.', [{ path: 'maxBytes', message }]);
  }
  if (part !== undefined && (!isRead || isOwn || typeof part !== 'string'))
    throw badRequest('The parameters are invalid.', [
      {
        path: 'part',
        message: 'must be a value of next that cut.parts contained in an earlier answer to this read',
      },
    ]);
  const params: Record<string, unknown> = {
    ...(isList && { limit: modelPageSize }),
    // If the model omits the version of the spec that it read, the call may only write the first version.
    ...(operation.name === registry.storySpec.update.name && { baseVersion: unwrittenSpecVersion }),
    ...applyProject(tool, others, view),
    ...(isOwn && { maxBytes: maxBytes ?? defaultAnswerBytes }),
  };
  // An operation with its own `maxBytes` parameter shortens its result more precisely than the gateway, and
  // names the parts that it cut.
  return { params, part, room: isOwn ? Infinity : isValidMaxBytes(maxBytes) ? maxBytes : defaultMaxBytes };
}

/**
 * Wraps a transport for callers other than tools, so that it reaches only what the connection's tools may
 * reach.
 */
export const restrictTransport =
  (transport: Transport, view: ConnectionLimits): Transport =>
  async ({ name, effect }, params, options) => {
    const tool = operationTool(name);
    if (tool === undefined || !view.allows(tool))
      throw narrowedError(`${name} is not available, because this connection is restricted.`);
    return transport({ name, effect }, applyProject(tool, params as AnswerBody, view), options);
  };

/**
 * Compares two keys or two ids, ignoring case. It cannot tell that a key and an id belong to the same
 * project.
 */
export const isSameRef = (value: unknown, ref: string): boolean =>
  typeof value === 'string' && value.toLowerCase() === ref.toLowerCase();

const isValidMaxBytes = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= minAnswerBytes && value <= maxAnswerBytes;

/** Casts a result; results are always JSON objects. */
const toAnswerBody = (result: unknown): AnswerBody => result as AnswerBody;

/** Calls the operation. Throws an ApiError if the gateway refuses, and a MusterError if the API refuses. */
export async function callOperation(
  tool: OperationTool,
  args: AnswerBody,
  call: ToolCall,
): Promise<AnswerBody> {
  const { operation, isList } = tool;
  const { transport } = call;
  const { params, part, room } = prepareCall(tool, args, call);
  const options = idempotencyOptionsFor(call, operation, params);
  await call.confirm?.(operation, params);
  const present = (answer: AnswerBody): AnswerBody =>
    call.isLean === true ? leanAnswer(operation, params, answer) : answer;
  const ask = async (asked: AnswerBody): Promise<AnswerBody> => {
    try {
      return toAnswerBody(await transport(operation, asked, options));
    } catch (failure) {
      throw explainFailure(failure, tool, params);
    }
  };
  const found = await ask(params);
  const whole = present(found);
  if (operation.name === registry.storyCollaboration.context.name) {
    const cut = describeContextCuts(found, String(params['storyId']));
    return cut === undefined ? whole : { ...whole, cut };
  }
  if (typeof part === 'string') return readRestOfPart(whole, part, room);
  if (room === Infinity || jsonBytesOf(whole) <= room) return whole;
  if (operation.effect === 'write')
    return shortenTo(whole, room, {
      continueHint: 'The write succeeded completely. Read the record with a larger maxBytes to see the rest.',
    });
  const { items } = whole;
  const count = Array.isArray(items) ? countFitting(items, room - minAnswerBytes / 2) : 0;
  if (!isList || !Array.isArray(items) || count >= items.length)
    return shortenTo(whole, room, { continueHint: readRestHint, isContinuable: true });
  // Request only as many items as fit, so that the cursor continues after the last item shown.
  const shorter = present(await ask({ ...params, limit: count }));
  const how = `${count} items fit into ${room} bytes: continue with nextCursor as usual, or set a larger maxBytes.`;
  const page = { ...shorter, cut: { parts: [{ path: 'items', length: items.length, shown: count }], how } };
  return jsonBytesOf(page) <= room
    ? page
    : shortenTo(page, room, { continueHint: `${how} ${readRestHint}`, isContinuable: true });
}

const readRestHint = `Call again with part set to the next value of a cut part to read its rest, or with maxBytes up to ${maxAnswerBytes}.`;

/** Returns the rest of a text or list that was cut; the other fields of the record are unchanged. */
function readRestOfPart(answer: AnswerBody, part: string, maxBytes: number): AnswerBody {
  const begun = skipToPart(answer, part);
  if (begun === undefined)
    throw badRequest('The parameter part does not name a cut part of this answer.', [
      {
        path: 'part',
        message:
          'must be the next value of a cut part; if the record has changed, read the record again from the start',
      },
    ]);
  return shortenTo(begun.answer, maxBytes, {
    continueHint: readRestHint,
    isContinuable: true,
    start: begun.start,
  });
}

/**
 * Calls an operation for a macro, a tool that combines several operations. On a connection that is bound to a
 * project, the project id that the macro found is left out of the call, and the connection's project applies.
 * The connection may name its project by key, and only the API can tell whether a key and an id are the same
 * project.
 */
export async function performStep(
  operation: Operation,
  args: AnswerBody,
  call: ToolCall,
): Promise<AnswerBody> {
  const tool = operationTool(operation.name);
  if (tool === undefined)
    return toAnswerBody(await call.transport(operation, args, idempotencyOptionsFor(call, operation, args)));
  const { projectId: _, ...others } = args;
  return callOperation(tool, call.view.project === null ? args : others, { ...call, isLean: false });
}
