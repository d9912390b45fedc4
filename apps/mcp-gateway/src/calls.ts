/** Calling an operation for a model: what narrowing fills in and forbids, pages and answers that fit its context. */
import { type Transport } from '@muster/client';
import { ApiError, badRequest, type Operation } from '@muster/registry';
import { type Answer, bytesOf, cutTo, fitting } from './answers.ts';
import { digest } from './intents.ts';
import { answerBytes, operationTool, type OperationTool, pageForModels } from './tools.ts';

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
  /** Of the whole call; each write in it has one derived from it. */
  readonly key: string;
}

const leastAnswerBytes = 1_000;
const mostAnswerBytes = 1_000_000;

/** A macro's writes are told apart by what they do. */
const keyFor = (key: string, operation: Operation): string => digest(key, operation.name);

/** What narrowing forbids. */
export const outside = (message: string): ApiError =>
  new ApiError('forbidden', message, { reason: 'narrowed', retryable: false });

/** The parameters as the API takes them, and the room for the answer. */
function prepare({ operation, isList, takesProject }: OperationTool, args: Answer, view: Bounds) {
  const { maxBytes, ...others } = args;
  const isOwn = 'maxBytes' in operation.params.shape;
  const isRead = operation.effect === 'read';
  if (maxBytes !== undefined && (!isRead || (!isOwn && !isSize(maxBytes)))) {
    const message = isRead
      ? `must be a whole number from ${leastAnswerBytes} to ${mostAnswerBytes}`
      : 'is for reads; the answer of a write is short';
    throw badRequest('The parameters do not fit.', [{ path: 'maxBytes', message }]);
  }
  if (
    view.project !== null &&
    takesProject &&
    'projectId' in args &&
    !isSameRef(args['projectId'], view.project)
  )
    throw outside(`This connection is for the project ${view.project} alone; leave projectId out.`);
  const params: Record<string, unknown> = {
    ...(isList && { limit: pageForModels }),
    ...others,
    ...(view.project !== null && takesProject && { projectId: view.project }),
    ...(isOwn && { maxBytes: maxBytes ?? answerBytes }),
  };
  // An operation that cuts by itself cuts better, and says what.
  return { params, room: isOwn ? Infinity : isSize(maxBytes) ? maxBytes : answerBytes };
}

/** Keys and ids alike are read in either case. A key and an id cannot be told to be one project's. */
const isSameRef = (value: unknown, ref: string): boolean =>
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
  const { transport, view, key } = call;
  const { params, room } = prepare(tool, args, view);
  const options = operation.effect === 'write' ? { idempotencyKey: keyFor(key, operation) } : {};
  const answer = asAnswer(await transport(operation, params, options));
  if (room === Infinity || bytesOf(answer) <= room) return answer;
  if (operation.effect === 'write')
    return cutTo(
      answer,
      room,
      'All of it was written. Read the record, with a larger maxBytes, to see the rest.',
    );
  const again = `Call again with maxBytes up to ${mostAnswerBytes}, or ask for less.`;
  const { items } = answer;
  const count = Array.isArray(items) ? fitting(items, room - leastAnswerBytes / 2) : 0;
  if (!isList || !Array.isArray(items) || count >= items.length) return cutTo(answer, room, again);
  // Asked for again with what has room, so that it goes on from the last item shown.
  const shorter = asAnswer(await transport(operation, { ...params, limit: count }, options));
  const how = `${count} items have room in ${room} bytes: go on from the last one shown, as with any page, or give a larger maxBytes.`;
  const page = { ...shorter, cut: { parts: [{ path: 'items', length: items.length, shown: count }], how } };
  return bytesOf(page) <= room ? page : cutTo(page, room, `${how} ${again}`);
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
