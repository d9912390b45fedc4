/**
 * The Tasks extension (`io.modelcontextprotocol/tasks`, SEP-2663). A client that supports it waits for its
 * inbox by a task that it polls, instead of repeated calls of its model. The gateway keeps no state: the id of
 * a task is the position in the inbox, signed for the caller's token.
 */
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequiredResult,
  type JSONRPCRequest,
  type McpServer,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { type McpSession } from './session.ts';

export const tasksExtension = 'io.modelcontextprotocol/tasks';

/** The tool that waits. Without a lease it reads the inbox. */
const waitTool = 'wait_for';

export const taskTtlSeconds = 24 * 60 * 60;
const pollIntervalMs = 5_000;

export const supportsTasks = (capabilities: ClientCapabilities | undefined): boolean =>
  capabilities?.extensions?.[tasksExtension] !== undefined;

/** Returns the error of a subscription to tasks by a client that does not declare the extension. */
export function findMissingTasksCapability({
  params,
}: JSONRPCRequest): MissingRequiredClientCapabilityError | undefined {
  const { notifications, _meta } = (params ?? {}) as {
    readonly notifications?: { readonly taskIds?: unknown };
    readonly _meta?: { readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities };
  };
  if (notifications?.taskIds === undefined || supportsTasks(_meta?.[CLIENT_CAPABILITIES_META_KEY]))
    return undefined;
  return new MissingRequiredClientCapabilityError({
    requiredCapabilities: { extensions: { [tasksExtension]: {} } },
  });
}

/** Calls a tool for the caller of the request. */
type CallTool = (
  name: string,
  args: Readonly<Record<string, unknown>>,
) => Promise<CallToolResult | InputRequiredResult>;

const InboxTask = z.object({ after: z.int(), createdAt: z.iso.datetime() });
type InboxTask = z.output<typeof InboxTask>;

const EmptyInboxPage = z.object({ items: z.array(z.unknown()).length(0), cursor: z.int() });
const FailedCall = z.object({ error: z.object({ status: z.int(), message: z.string() }) });

/** Returns the fields that all results about a task share. */
const describeTask = (taskId: string, { createdAt }: InboxTask, lastUpdatedAt = createdAt) => ({
  ...{ taskId, createdAt, lastUpdatedAt },
  ...{ ttlMs: taskTtlSeconds * 1_000, pollIntervalMs },
});
const workingStatus = { status: 'working', statusMessage: 'Waiting for something in the inbox' } as const;

/** Returns true if the call waits for the inbox, so that a task can replace its wait. */
export const isInboxWait = (name: string, args: Readonly<Record<string, unknown>>): boolean =>
  name === waitTool &&
  args['executionId'] === undefined &&
  args['leaseToken'] === undefined &&
  args['waitSeconds'] !== 0;

/** Answers a wait for the inbox: with its items, or with a task if there are none yet. */
export async function waitByTask(
  args: Readonly<Record<string, unknown>>,
  { taskCodec }: McpSession,
  callTool: CallTool,
): Promise<CallToolResult | InputRequiredResult> {
  const result = await callTool(waitTool, { ...args, waitSeconds: 0 });
  const empty = EmptyInboxPage.safeParse(result['structuredContent']);
  if (!empty.success) return result;
  const task: InboxTask = { after: empty.data.cursor, createdAt: new Date().toISOString() };
  const taskId = await taskCodec.mint(task);
  // The SDK requires content in each result of tools/call.
  return { resultType: 'task', content: [], ...describeTask(taskId, task), ...workingStatus };
}

/** Verifies that the id belongs to a task of this caller that has not expired. */
async function readTask(
  taskId: string,
  { taskCodec }: McpSession,
  context: ServerContext,
): Promise<InboxTask> {
  try {
    return InboxTask.parse(await taskCodec.verify(taskId, context));
  } catch {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'taskId: there is no such task, or it expired.');
  }
}

async function getTask(taskId: string, task: InboxTask, callTool: CallTool) {
  const result = await callTool(waitTool, { after: task.after, waitSeconds: 0 });
  if (EmptyInboxPage.safeParse(result['structuredContent']).success)
    return { ...describeTask(taskId, task), ...workingStatus };
  const failed = FailedCall.safeParse(result['structuredContent']);
  // A temporary failure must not end the task. The client polls again.
  if (failed.success && failed.data.error.status >= 429)
    throw new ProtocolError(ProtocolErrorCode.InternalError, failed.data.error.message);
  return { ...describeTask(taskId, task, new Date().toISOString()), status: 'completed', result };
}

const TaskParams = z.looseObject({ taskId: z.string() });

/** Adds the methods of the extension. Tasks never ask for input, and there is nothing to stop. */
export function addTaskMethods(
  { server }: McpServer,
  sessionOf: (context: ServerContext) => McpSession,
  callTool: (session: McpSession, context: ServerContext) => CallTool,
): void {
  server.setRequestHandler('tasks/get', { params: TaskParams }, async ({ taskId }, context) => {
    const session = sessionOf(context);
    return getTask(taskId, await readTask(taskId, session, context), callTool(session, context));
  });
  for (const method of ['tasks/update', 'tasks/cancel'])
    server.setRequestHandler(method, { params: TaskParams }, async ({ taskId }, context) => {
      await readTask(taskId, sessionOf(context), context);
      return {};
    });
}
