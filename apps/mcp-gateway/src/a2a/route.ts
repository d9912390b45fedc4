/**
 * `POST /api/a2a`: the JSON-RPC binding of A2A 1.0, by which other orchestrators hand in work and follow it.
 * Like the MCP endpoint it has no state and no rights of its own: each call goes to the API with the caller's
 * token.
 */
import { type Client, createClient, MusterError, NoAnswer } from '@muster/client';
import { ApiError, parseWith, unauthorized } from '@muster/contract';
import { durationMillis, sendError } from '@muster/http';
import { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { isUnauthorized } from '../answers/failures.ts';
import { digest } from '../calls/intents.ts';
import { authenticatedCallerOf, forwardedHeadersOf, type RequestGate } from '../http/door.ts';
import { messageIdOf, sendJson, sendJsonRpcError } from '../http/replies.ts';
import { type FollowActivity, openActivityStream } from '../protocol/subscriptions.ts';
import {
  A2aError,
  a2aVersion,
  isTerminal,
  ListTasksParams,
  RpcFailure,
  SendMessageParams,
  TaskParams,
  toRpcError,
} from './messages.ts';
import { applyMessage, cancelTask, listTasks, readTask, type Task } from './tasks.ts';

export const a2aPath = '/api/a2a';

/**
 * The time after which a blocking SendMessage returns the unfinished task, because proxies end responses
 * that take longer.
 */
const maxBlockingMillis = 50_000;
/** Interval of comments in streams, so that proxies do not end them. */
const keepAliveMillis = 15_000;
const maxBodyBytes = 256 * 1024;

const Envelope = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number(), z.null()]).optional(),
  method: z.string(),
  params: z.record(z.string(), z.unknown()).default({}),
});

/** A request of an authenticated caller. */
interface TaskCall {
  readonly client: Client;
  readonly params: Readonly<Record<string, unknown>>;
  readonly follow: FollowActivity;
  readonly tokenDigest: string;
  /** Frees the request slot before a wait. */
  readonly releaseSlot: () => void;
  /** Aborts when the client disconnects or the service stops. */
  readonly signal: AbortSignal;
}

const parseParams = <Output>(schema: z.ZodType<Output>, params: unknown): Output =>
  parseWith(schema, params, 'Invalid parameters');

/** Yields the task, and then each change of it until it has ended or the signal aborts. */
async function* followTask(
  { client, follow, signal, releaseSlot }: TaskCall,
  findTask: () => Promise<Task>,
  historyLength?: number,
): AsyncGenerator<{ readonly task: Task; readonly changes: readonly object[] }> {
  // The stream is open before the task is read, so that no later change is missed.
  const ending = new AbortController();
  releaseSlot();
  try {
    const activity = await openActivityStream(follow, AbortSignal.any([signal, ending.signal]));
    let task = await findTask();
    yield { task, changes: [{ task }] };
    if (isTerminal(task.status.state)) return;
    for await (const streamed of activity) {
      if (streamed.type === 'event' && streamed.event.subject.id !== task.id) continue;
      const next = await readTask(client, task.id, historyLength);
      const { id: taskId, contextId, status, artifacts = [] } = next;
      const newArtifacts = isDeepStrictEqual(artifacts, task.artifacts ?? []) ? [] : artifacts;
      const isNewStatus =
        status.state !== task.status.state ||
        !isDeepStrictEqual(status.message.parts, task.status.message.parts);
      const changes = [
        ...newArtifacts.map((artifact) => ({
          artifactUpdate: { taskId, contextId, artifact, lastChunk: true },
        })),
        ...(isNewStatus ? [{ statusUpdate: { taskId, contextId, status } }] : []),
      ];
      task = next;
      if (changes.length > 0) yield { task, changes };
      if (isTerminal(status.state)) return;
    }
  } finally {
    ending.abort();
  }
}

function parseMessage(params: unknown): SendMessageParams {
  const sent = parseParams(SendMessageParams, params);
  if (sent.configuration?.taskPushNotificationConfig !== undefined)
    throw new A2aError(
      'PUSH_NOTIFICATION_NOT_SUPPORTED',
      'Push notifications are not supported; subscribe to the task.',
    );
  return sent;
}

const send = ({ client, tokenDigest }: TaskCall, sent: SendMessageParams): Promise<string> =>
  applyMessage(client, sent, digest(tokenDigest, 'a2a', sent.message.messageId));

/** Applies a message and waits until the task has ended or needs input, unless the client does not wait. */
async function sendMessage(call: TaskCall): Promise<object> {
  const sent = parseMessage(call.params);
  const { historyLength, returnImmediately } = sent.configuration ?? {};
  const id = await send(call, sent);
  const read = () => readTask(call.client, id, historyLength);
  let task = await read();
  const isFinal = (): boolean =>
    isTerminal(task.status.state) || task.status.state === 'TASK_STATE_INPUT_REQUIRED';
  if (returnImmediately === true || isFinal()) return { task };
  const signal = AbortSignal.any([call.signal, AbortSignal.timeout(maxBlockingMillis)]);
  try {
    for await (const next of followTask({ ...call, signal }, read, historyLength)) {
      task = next.task;
      if (isFinal()) break;
    }
  } catch (failure) {
    // The message is applied, so the client gets its task even if the wait fails, for example because the
    // member opened too many streams.
    const isApiFailure = failure instanceof MusterError || failure instanceof NoAnswer;
    if (!isApiFailure || isUnauthorized(failure)) throw failure;
  }
  return { task };
}

type Method = (call: TaskCall) => Promise<object>;
type StreamMethod = (call: TaskCall) => ReturnType<typeof followTask>;

const refuse =
  (reason: ConstructorParameters<typeof A2aError>[0], message: string): Method =>
  () => {
    throw new A2aError(reason, message);
  };
const refusePush = refuse('PUSH_NOTIFICATION_NOT_SUPPORTED', 'Push notifications are not supported.');

const methods: Readonly<Record<string, Method>> = {
  SendMessage: sendMessage,
  GetTask: ({ client, params }) => {
    const { id, historyLength } = parseParams(TaskParams, params);
    return readTask(client, id, historyLength);
  },
  ListTasks: ({ client, params }) => listTasks(client, parseParams(ListTasksParams, params)),
  CancelTask: ({ client, params }) => cancelTask(client, parseParams(TaskParams, params).id),
  CreateTaskPushNotificationConfig: refusePush,
  GetTaskPushNotificationConfig: refusePush,
  ListTaskPushNotificationConfigs: refusePush,
  DeleteTaskPushNotificationConfig: refusePush,
  GetExtendedAgentCard: refuse('UNSUPPORTED_OPERATION', 'There is no extended agent card.'),
};

const streamMethods: Readonly<Record<string, StreamMethod>> = {
  SendStreamingMessage: (call) => {
    const sent = parseMessage(call.params);
    const { historyLength } = sent.configuration ?? {};
    const sendAndRead = async () => readTask(call.client, await send(call, sent), historyLength);
    return followTask(call, sendAndRead, historyLength);
  },
  SubscribeToTask: (call) => {
    const { id, historyLength } = parseParams(TaskParams, call.params);
    const findOpenTask = async (): Promise<Task> => {
      const task = await readTask(call.client, id, historyLength);
      if (isTerminal(task.status.state))
        throw new A2aError(
          'UNSUPPORTED_OPERATION',
          `${task.metadata.key} has ended, so there is nothing to follow.`,
        );
      return task;
    };
    return followTask(call, findOpenTask, historyLength);
  },
};

const methodOf = <Found>(table: Readonly<Record<string, Found>>, name: string): Found | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

/** Sends changes of a task as server-sent events. Errors before the first one are thrown. */
async function sendStream(
  reply: FastifyReply,
  id: string | number | null,
  changes: ReturnType<typeof followTask>,
): Promise<void> {
  const first = await changes.next();
  const format = (results: readonly object[]): string =>
    results.map((result) => `data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`).join('');
  async function* texts() {
    for (let next = first; next.done !== true; next = await changes.next()) yield format(next.value.changes);
  }
  const headers = {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  };
  const out = reply
    .hijack()
    .raw.writeHead(200, { ...(reply.getHeaders() as Record<string, string>), ...headers });
  const keepAlive = setInterval(() => out.write(':\n\n'), keepAliveMillis);
  try {
    await pipeline(Readable.from(texts()), out);
  } catch {
    // The client has disconnected, or its token has expired. It can subscribe again.
    out.destroy();
  } finally {
    clearInterval(keepAlive);
  }
}

function requireVersion({ headers }: FastifyRequest): void {
  const version = headers['a2a-version'];
  if (version === a2aVersion) return;
  // Version 0.3 had no header.
  const named = typeof version === 'string' && version !== '' ? version.slice(0, 20) : '0.3';
  throw new A2aError(
    'VERSION_NOT_SUPPORTED',
    `A2A ${named} is not supported. Send the header A2A-Version: ${a2aVersion}.`,
  );
}

function createTaskCall(
  gate: RequestGate,
  reply: FastifyReply,
  stopSignal: AbortSignal,
): Omit<TaskCall, 'params'> {
  const { request } = reply;
  const { secret, tokenDigest } = authenticatedCallerOf(request);
  const left = new AbortController();
  reply.raw.once('close', () => left.abort());
  return {
    client: createClient(gate.transportFor(request, { token: secret, isMcp: false })),
    follow: gate.options.api.followActivity({
      ...{ token: secret, headers: forwardedHeadersOf(request), isMcp: false },
    }),
    tokenDigest,
    releaseSlot: () => gate.options.releaseRequestSlot(request),
    signal: AbortSignal.any([left.signal, stopSignal]),
  };
}

/** Answers a request. Returns the outcome for the log. */
async function answer(gate: RequestGate, reply: FastifyReply, stopSignal: AbortSignal): Promise<string> {
  const { request } = reply;
  const id = messageIdOf(request.body);
  try {
    const envelope = Envelope.safeParse(request.body);
    if (!envelope.success) throw new RpcFailure(-32_600, 'Request payload validation error');
    const { method, params } = envelope.data;
    requireVersion(request);
    const call = { ...createTaskCall(gate, reply, stopSignal), params };
    const stream = methodOf(streamMethods, method);
    if (stream !== undefined) {
      await sendStream(reply, id, stream(call));
      return method;
    }
    const run = methodOf(methods, method);
    if (run === undefined) throw new RpcFailure(-32_601, `There is no method ${method.slice(0, 100)}.`);
    sendJson(reply, 200, JSON.stringify({ jsonrpc: '2.0', id, result: await run(call) }));
    return method;
  } catch (failure) {
    if (isUnauthorized(failure)) {
      gate.identities.forget(authenticatedCallerOf(request).tokenDigest);
      sendError(reply, unauthorized(), request.id);
      return 'unauthorized';
    }
    const error = toRpcError(failure, request.id);
    if (error.code === -32_603)
      gate.options.logger.warn({ err: failure, requestId: request.id }, 'a2a failed');
    sendJsonRpcError(reply, 200, error, id);
    return `error ${error.code}`;
  }
}

interface A2aRouteOptions {
  readonly gate: RequestGate;
  readonly onRequest: (request: FastifyRequest) => Promise<void>;
  /** Aborts when the service stops. */
  readonly stopSignal: AbortSignal;
}

export function addA2aRoute(app: FastifyInstance, { gate, onRequest, stopSignal }: A2aRouteOptions): void {
  const errorHandler = (
    error: FastifyError | ApiError,
    request: FastifyRequest,
    reply: FastifyReply,
  ): void => {
    if (!(error instanceof ApiError) || error.code !== 'bad_request') throw error;
    void sendJsonRpcError(
      reply,
      200,
      { code: -32_700, message: 'Invalid JSON payload' },
      messageIdOf(request.body),
    );
  };
  app.post(a2aPath, { onRequest, errorHandler, bodyLimit: maxBodyBytes }, async (request, reply) => {
    const { tokenDigest, identity } = authenticatedCallerOf(request);
    await gate.limitRequests(tokenDigest);
    const outcome = await answer(gate, reply, stopSignal);
    const durationMs = durationMillis(request);
    gate.options.logger.info({ requestId: request.id, outcome, durationMs, ...identity.ids }, 'a2a');
    return reply;
  });
}
