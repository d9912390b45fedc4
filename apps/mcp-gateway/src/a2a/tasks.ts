/**
 * Tasks of A2A are stories, and their state is that of the work on the story: its execution. The id of a task
 * is that of its story, because one story may need several executions; its context is the project.
 */
import { type Client, isRefusal, MusterError } from '@muster/client';
import {
  type Execution,
  isUuid,
  type OpenThread,
  StoryDescription,
  StoryTitle,
  type Story,
  type StoryStatus,
} from '@muster/contract';
import { type z } from 'zod';
import { truncateText } from '../answers/answers.ts';
import {
  A2aError,
  invalidParams,
  isTerminal,
  type ListTasksParams,
  type SendMessageParams,
  type TaskState,
  textOfParts,
} from './messages.ts';

interface Message {
  readonly messageId: string;
  readonly contextId: string;
  readonly taskId: string;
  readonly role: 'ROLE_USER' | 'ROLE_AGENT';
  readonly parts: readonly { readonly text: string }[];
}
interface Artifact {
  readonly artifactId: string;
  readonly name: string;
  readonly parts: readonly object[];
}
export interface Task {
  readonly id: string;
  readonly contextId: string;
  readonly status: { readonly state: TaskState; readonly message: Message; readonly timestamp: string };
  readonly artifacts?: readonly Artifact[];
  readonly history?: readonly Message[];
  readonly metadata: {
    readonly key: string;
    readonly storyStatus: string;
    readonly executionId: string | null;
  };
}

/** The parts of a story's context that its task shows. */
interface Work {
  readonly story: Story;
  readonly execution: Execution | null;
  readonly threads: readonly OpenThread[];
}

const contextBytes = 1024 * 1024;

const taskNotFound = (id: string): A2aError =>
  new A2aError('TASK_NOT_FOUND', `There is no task ${id.slice(0, 100)}.`);

async function readWork({ storyCollaboration }: Client, storyId: string): Promise<Work> {
  const include: ('story' | 'execution' | 'openThreads')[] = ['story', 'execution', 'openThreads'];
  try {
    const found = await storyCollaboration.context({ storyId, include, maxBytes: contextBytes });
    if (found.story === null) throw taskNotFound(storyId);
    return { story: found.story, execution: found.execution, threads: found.openThreads ?? [] };
  } catch (failure) {
    // The API answers 400 for an id in an unknown format.
    if (failure instanceof MusterError && (failure.status === 404 || failure.status === 400))
      throw taskNotFound(storyId);
    throw failure;
  }
}

function stateOf({ story, execution }: Work): TaskState {
  if (story.status === 'done') return 'TASK_STATE_COMPLETED';
  if (story.status === 'canceled') return 'TASK_STATE_CANCELED';
  switch (execution?.state) {
    case 'leased':
    case 'submitted':
      return 'TASK_STATE_WORKING';
    case 'waiting_input':
      return 'TASK_STATE_INPUT_REQUIRED';
    case 'completed':
      if (execution.outcome === 'failed') return 'TASK_STATE_FAILED';
      return execution.outcome === 'canceled' ? 'TASK_STATE_CANCELED' : 'TASK_STATE_WORKING';
    default:
      return 'TASK_STATE_SUBMITTED';
  }
}

/** Returns the question that the holder of the work waits for. */
const openQuestionOf = ({ execution, threads }: Work): OpenThread | undefined =>
  threads.find(({ id }) => id === execution?.waitingFor?.questionId) ??
  threads.findLast(({ kind }) => kind === 'question');

function describeState(work: Work, state: TaskState): string {
  const { story, execution } = work;
  switch (state) {
    case 'TASK_STATE_SUBMITTED':
      return `${story.key} waits for an agent or a member who starts it.`;
    case 'TASK_STATE_INPUT_REQUIRED':
      return openQuestionOf(work)?.body ?? `A question on ${story.key} is open.`;
    case 'TASK_STATE_FAILED':
      return (
        execution?.summary ?? `The work on ${story.key} failed: ${execution?.failure ?? 'no reason given'}.`
      );
    case 'TASK_STATE_WORKING':
      if (execution?.state === 'leased')
        return (
          execution.checkpoint?.summary ??
          `${execution.lease?.holder.name ?? 'Someone'} works on ${story.key}.`
        );
      return execution?.needsRework === true
        ? `A reviewer requested changes on ${story.key}.`
        : `The work on ${story.key} is submitted and in review.`;
    case 'TASK_STATE_COMPLETED':
      return execution?.summary ?? `${story.key} is done.`;
    case 'TASK_STATE_CANCELED':
      return `${story.key} was canceled.`;
  }
}

/** Returns the result of submitted or completed work; undefined while there is none. */
function artifactOf({ execution }: Work): Artifact | undefined {
  if (execution?.state !== 'submitted' && execution?.state !== 'completed') return undefined;
  const { id, summary, pullRequest, git } = execution;
  const branch = git?.branch ?? null;
  const parts = [
    ...(summary === null ? [] : [{ text: summary }]),
    ...(pullRequest === null ? [] : [{ url: pullRequest.url, mediaType: 'text/html' }]),
    ...(branch === null ? [] : [{ data: { branch, headSha: git?.headSha ?? null } }]),
  ];
  return parts.length === 0 ? undefined : { artifactId: id, name: 'Submitted work', parts };
}

function taskOf(work: Work, historyLength: number | undefined): Task {
  const { story, execution } = work;
  const [id, contextId, state] = [story.id, story.projectId, stateOf(work)];
  const updatedAt = execution?.updatedAt ?? story.updatedAt;
  const timestamp = updatedAt > story.updatedAt ? updatedAt : story.updatedAt;
  const artifact = artifactOf(work);
  const message = (messageId: string, role: Message['role'], text: string): Message => ({
    ...{ messageId, contextId, taskId: id, role },
    parts: [{ text }],
  });
  const request = message(id, 'ROLE_USER', story.description ?? story.title);
  return {
    ...{ id, contextId },
    status: {
      state,
      message: message(`${id}-${timestamp}`, 'ROLE_AGENT', describeState(work, state)),
      timestamp,
    },
    ...(artifact !== undefined && { artifacts: [artifact] }),
    ...(historyLength !== 0 && { history: [request] }),
    metadata: { key: story.key, storyStatus: story.status, executionId: execution?.id ?? null },
  };
}

export const readTask = async (client: Client, id: string, historyLength?: number): Promise<Task> =>
  taskOf(await readWork(client, id), historyLength);

/** Finds the project for a new task: the named one, or the only one that the caller can see. */
async function findProject({ projects }: Client, named: string | undefined): Promise<string> {
  if (named !== undefined) return named;
  const { items, nextCursor } = await projects.list({ limit: 2 });
  const [only, another] = items;
  if (only !== undefined && another === undefined && nextCursor === null) return only.id;
  throw invalidParams([
    {
      path: 'message.metadata.projectId',
      message: 'is required: the key or id of the project, such as WEB, or contextId of one of its tasks',
    },
  ]);
}

const maxTitleChars = 200;

/** Returns true if the API refused the content of a call, so that the same call would be refused again. */
const isFinalRefusal = (failure: unknown): boolean =>
  failure instanceof MusterError && failure.status < 500 && ![401, 429].includes(failure.status);

/** Creates a story from the message. It is ready, so that an agent or a runner can start it. */
async function createTask(
  client: Client,
  { message }: SendMessageParams,
  idempotencyKey: string,
): Promise<string> {
  const { contextId, metadata } = message;
  const text = textOfParts(message.parts);
  const firstLine =
    text
      .split('\n', 1)[0]
      ?.replaceAll(/^#+\s*|\s+/g, ' ')
      .trim() ?? '';
  const title = firstLine.length > maxTitleChars ? `${truncateText(firstLine, maxTitleChars)}…` : firstLine;
  const checked = [StoryTitle.safeParse(title), StoryDescription.safeParse(text)];
  if (checked.some(({ success }) => !success))
    throw invalidParams([{ path: 'message.parts', message: 'must have 1 to 20,000 characters of text' }]);
  const projectId = await findProject(client, metadata?.projectId ?? contextId);
  const { story } = await client.stories.create(
    { projectId, title, status: 'ready', ...(text !== title && { description: text }) },
    { idempotencyKey },
  );
  const { agentId, memberId } = metadata ?? {};
  if (agentId === undefined && memberId === undefined) return story.id;
  try {
    await client.assignments.set({ targetType: 'story', targetId: story.id, agentId, memberId });
  } catch (failure) {
    // After a temporary failure, the repeated message finds the story and assigns it.
    if (isFinalRefusal(failure)) await client.stories.updateStatus({ storyId: story.id, status: 'canceled' });
    throw failure;
  }
  return story.id;
}

/** Adds a message to a task: the answer to its open question, otherwise a comment on the story. */
async function continueTask(
  client: Client,
  { message }: SendMessageParams,
  taskId: string,
  idempotencyKey: string,
): Promise<string> {
  const work = await readWork(client, taskId);
  const { story } = work;
  const state = stateOf(work);
  if (message.contextId !== undefined && message.contextId !== story.projectId)
    throw invalidParams([{ path: 'message.contextId', message: 'is not the context of the task' }]);
  if (isTerminal(state))
    throw new A2aError('UNSUPPORTED_OPERATION', `${story.key} has ended and accepts no further messages.`);
  const body = textOfParts(message.parts);
  const question = state === 'TASK_STATE_INPUT_REQUIRED' ? openQuestionOf(work) : undefined;
  const parent = question === undefined ? {} : { parentId: question.id };
  try {
    await client.comments.create({ storyId: story.id, body, ...parent }, { idempotencyKey });
  } catch (failure) {
    // The message was applied before, when the task was in another state: it had another question or none.
    if (isRefusal(failure, 'idempotency_mismatch')) return story.id;
    throw failure;
  }
  if (question !== undefined) await client.comments.resolve({ commentId: question.id });
  return story.id;
}

/** Starts or continues a task by a message, and returns its id. A repeated message has no further effect. */
export function applyMessage(
  client: Client,
  params: SendMessageParams,
  idempotencyKey: string,
): Promise<string> {
  const { taskId } = params.message;
  return taskId === undefined
    ? createTask(client, params, idempotencyKey)
    : continueTask(client, params, taskId, idempotencyKey);
}

/** Cancels the story, which also ends the work on it. */
export async function cancelTask(client: Client, id: string): Promise<Task> {
  const { status, id: storyId, metadata } = await readTask(client, id, 0);
  if (isTerminal(status.state) && metadata.storyStatus !== 'in_progress')
    throw new A2aError('TASK_NOT_CANCELABLE', `${metadata.key} has already ended.`);
  await client.stories.updateStatus({ storyId, status: 'canceled' });
  return readTask(client, storyId);
}

const defaultTasksPerPage = 20;

const openStatuses: readonly StoryStatus[] = ['backlog', 'ready', 'in_progress', 'in_review'];

/** Returns the statuses that a story may have while its task has the state. */
function storyStatusesOf(state: string): StoryStatus[] {
  if (state === 'TASK_STATE_COMPLETED') return ['done'];
  return state === 'TASK_STATE_CANCELED' ? ['canceled', ...openStatuses] : [...openStatuses];
}

/** Lists tasks of a project or of all projects that the caller can see, those that changed last first. */
export async function listTasks(
  client: Client,
  { contextId, status, pageSize, pageToken, historyLength = 0, ...more }: z.output<typeof ListTasksParams>,
): Promise<object> {
  const wanted = status === 'TASK_STATE_UNSPECIFIED' ? undefined : status;
  const shared = {
    ...({ sort: 'updated', limit: Math.min(pageSize ?? defaultTasksPerPage, defaultTasksPerPage) } as const),
    ...(pageToken !== undefined && { cursor: pageToken }),
    ...(more.statusTimestampAfter !== undefined && { updatedSince: more.statusTimestampAfter }),
    ...(wanted !== undefined && { status: storyStatusesOf(wanted) }),
  };
  if (contextId !== undefined && !isUuid(contextId))
    throw invalidParams([{ path: 'contextId', message: 'must be the contextId of a task' }]);
  const { items, nextCursor } = await (contextId === undefined
    ? client.stories.search(shared)
    : client.stories.list({ ...shared, projectId: contextId, view: 'card' }));
  const all = await Promise.all(
    items.map(async ({ id }) => {
      try {
        return [await readTask(client, id, historyLength)];
      } catch (failure) {
        // The story was deleted or hidden after the list was read.
        if (failure instanceof A2aError) return [];
        throw failure;
      }
    }),
  );
  const tasks = all
    .flat()
    .filter((task) => wanted === undefined || task.status.state === wanted)
    .map(({ artifacts, ...task }) =>
      more.includeArtifacts === true ? { ...task, artifacts: artifacts ?? [] } : task,
    );
  return {
    ...{ tasks, nextPageToken: nextCursor ?? '', pageSize: shared.limit },
    // The API counts no stories, so this is a lower bound.
    totalSize: tasks.length + (nextCursor === null ? 0 : 1),
  };
}
