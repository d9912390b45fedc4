/** Calling an operation for a model: what narrowing fills in and forbids, pages and answers that fit its context. */
import { type Transport } from '@muster/client';
import { ApiError, badRequest, forbidden, type Operation, registry } from '@muster/registry';
import { type Answer, beginningAt, bytesOf, cutTo, fitting } from '../answers/answers.ts';
import { type Confirm } from './confirming.ts';
import { cutOfContext } from '../answers/cut-context.ts';
import { explained } from './explained.ts';
import { digest, type Intent } from './intents.ts';
import { asMeant, withCleared } from './repair.ts';
import { answerBytes, operationTool, type OperationTool, pageForModels } from '../tools/tools.ts';

/** What the connection is narrowed to, as far as its calls go by it. */
export interface Bounds {
  /** Filled in wherever an operation takes a projectId. */
  readonly project: string | null;
  /** Whether calls may reach it, by its own name or through another tool. */
  allows(tool: OperationTool): boolean;
}

/** One call of a tool, and all that belongs to it. */
export interface ToolCall {
  readonly transport: Transport;
  readonly view: Bounds;
  /** Whether the token has what it takes; on which records, the API decides. */
  readonly mayUse: (tool: OperationTool) => boolean;
  /** Asks a person before what cannot be undone; undefined where the client cannot ask. */
  readonly confirm?: Confirm | undefined;
  /** Of the whole call; each write in it has a key derived from it. */
  readonly intent: Pick<Intent, 'key' | 'isOwn'>;
  /** Bytes of an answer, where the call says nothing of it; as many as a model takes unless told. */
  readonly room?: number;
}

/** The version of a spec before its first one is written. */
const neverWritten = 0;

const leastAnswerBytes = 1_000;
const mostAnswerBytes = 1_000_000;

/** Said of a version, a call can succeed once: an equal one is the same intention. */
const conditions = ['expectedVersion', 'baseVersion'] as const;

/**
 * Whether an equal call means it again: what keeps a lease, reports or sets has to reach the API each time, or the lease
 * is not kept and a stop is not heard. What makes one more of something is made once for calls that look like one.
 */
export function isMeantAgain({ idempotent, params, secret }: Operation, given: Answer): boolean {
  if ('leaseToken' in params.shape || 'dedupeKey' in params.shape || secret !== null) return true;
  return idempotent && conditions.every((condition) => given[condition] === undefined);
}

/** A macro's writes are told apart by what they do. */
const keyFor = ({ intent: { key, isOwn } }: ToolCall, operation: Operation, params: Answer) =>
  operation.effect === 'write' && (isOwn || !isMeantAgain(operation, params))
    ? { idempotencyKey: digest(key, operation.name) }
    : {};

/** What narrowing forbids. */
export const outside = (message: string): ApiError => forbidden('narrowed', message);

export const isOutside = (failure: unknown): boolean =>
  failure instanceof ApiError && failure.details.reason === 'narrowed';

/** The project of the connection is filled in, and no other can be named. */
export function inProject(
  { takesProject }: Pick<OperationTool, 'takesProject'>,
  args: Answer,
  { project }: Bounds,
): Answer {
  if (project === null || !takesProject) return args;
  if ('projectId' in args && !isSameRef(args['projectId'], project))
    throw outside(`This connection is for the project ${project} alone; leave projectId out.`);
  return { ...args, projectId: project };
}

/** The parameters as the API takes them, and the room for the answer. */
function prepare(tool: OperationTool, args: Answer, { view, room = answerBytes }: ToolCall) {
  const { operation, isList, stated, clears } = tool;
  const { maxBytes: asked, part, ...others } = withCleared(clears, asMeant(stated, args));
  const maxBytes = asked === null ? undefined : asked;
  const isOwn = 'maxBytes' in operation.params.shape;
  const isRead = operation.effect === 'read';
  if (maxBytes !== undefined && (!isRead || (!isOwn && !isSize(maxBytes)))) {
    const message = isRead
      ? `must be a whole number from ${leastAnswerBytes} to ${mostAnswerBytes}`
      : 'is for reads; the answer of a write is short';
    throw badRequest('The parameters do not fit.', [{ path: 'maxBytes', message }]);
  }
  if (part !== undefined && (!isRead || isOwn || typeof part !== 'string'))
    throw badRequest('The parameters do not fit.', [
      { path: 'part', message: 'is the next of a cut part of this read, as text' },
    ]);
  const params: Record<string, unknown> = {
    ...(isList && { limit: pageForModels }),
    // Without the version that it read, a model may only write the first one.
    ...(operation.name === registry.storySpec.update.name && { baseVersion: neverWritten }),
    ...inProject(tool, others, view),
    ...(isOwn && { maxBytes: maxBytes ?? answerBytes }),
  };
  // An operation that cuts by itself cuts better, and says what.
  return { params, part, room: isOwn ? Infinity : isSize(maxBytes) ? maxBytes : room };
}

/** The way to the API for what is no tool: it reaches as much as the tools of the connection do. */
export const within =
  (transport: Transport, view: Bounds): Transport =>
  async ({ name, effect }, params, options) => {
    const tool = operationTool(name);
    if (tool === undefined || !view.allows(tool))
      throw outside(`${name} is outside of what this connection was narrowed to.`);
    return transport({ name, effect }, inProject(tool, params as Answer, view), options);
  };

/** Keys and ids alike are read in either case. A key and an id cannot be told to be one project's. */
export const isSameRef = (value: unknown, ref: string): boolean =>
  typeof value === 'string' && value.toLowerCase() === ref.toLowerCase();

const isSize = (value: unknown): value is number =>
  typeof value === 'number' &&
  Number.isInteger(value) &&
  value >= leastAnswerBytes &&
  value <= mostAnswerBytes;

/** Results are JSON objects, always. */
const asAnswer = (result: unknown): Answer => result as Answer;

/** Calls the operation. Throws an ApiError where the gateway refuses, a MusterError where the API does. */
export async function callOperation(tool: OperationTool, args: Answer, call: ToolCall): Promise<Answer> {
  const { operation, isList } = tool;
  const { transport } = call;
  const { params, part, room } = prepare(tool, args, call);
  const options = keyFor(call, operation, params);
  await call.confirm?.(operation, params);
  const ask = async (asked: Answer): Promise<Answer> => {
    try {
      return asAnswer(await transport(operation, asked, options));
    } catch (failure) {
      throw explained(failure, tool, params);
    }
  };
  const whole = await ask(params);
  if (operation.name === registry.storyCollaboration.context.name) {
    const cut = cutOfContext(whole, String(params['storyId']));
    return cut === undefined ? whole : { ...whole, cut };
  }
  if (typeof part === 'string') return readOn(whole, part, room);
  if (room === Infinity || bytesOf(whole) <= room) return whole;
  if (operation.effect === 'write')
    return cutTo(whole, room, {
      how: 'All of it was written. Read the record, with a larger maxBytes, to see the rest.',
    });
  const { items } = whole;
  const count = Array.isArray(items) ? fitting(items, room - leastAnswerBytes / 2) : 0;
  if (!isList || !Array.isArray(items) || count >= items.length)
    return cutTo(whole, room, { how: again, goesOn: true });
  // Asked for again with what has room, so that it goes on from the last item shown.
  const shorter = await ask({ ...params, limit: count });
  const how = `${count} items have room in ${room} bytes: go on from the last one shown, as with any page, or give a larger maxBytes.`;
  const page = { ...shorter, cut: { parts: [{ path: 'items', length: items.length, shown: count }], how } };
  return bytesOf(page) <= room ? page : cutTo(page, room, { how: `${how} ${again}`, goesOn: true });
}

const again = `Call again with part set to the next of what is cut, to read on from there, or with maxBytes up to ${mostAnswerBytes}.`;

/** The rest of a text or list that was cut; the record around it stands as it was. */
function readOn(whole: Answer, part: string, room: number): Answer {
  const begun = beginningAt(whole, part);
  if (begun === undefined)
    throw badRequest('There is no such part.', [
      { path: 'part', message: 'must be the next of a cut part; where the record changed, read it anew' },
    ]);
  return cutTo(begun.answer, room, { how: again, goesOn: true, start: begun.start });
}

/**
 * The same by an operation, for tools that are made of several. The project that they found out gives way to that of the
 * connection: it is told by its id, and that a key means the same one the API alone can say.
 */
export async function perform(operation: Operation, args: Answer, call: ToolCall): Promise<Answer> {
  const tool = operationTool(operation.name);
  if (tool === undefined) throw new Error(`${operation.name} is no tool`);
  const { projectId: _, ...others } = args;
  return callOperation(tool, call.view.project === null ? args : others, call);
}
