/**
 * Runs the demo's agent, so that the first view of a board shows active work.
 * From time to time it takes a story that is in progress, reports progress, asks a question, and releases the
 * story. It notices a stop request with its next call, like any lease holder.
 */
import { randomUUID } from 'node:crypto';
import { type Client, MusterError, NoAnswer } from '@muster/client';
import { type Signal, type StoryCard } from '@muster/registry';

export interface DemoAgentOptions {
  readonly projectKey: string;
  readonly signal: AbortSignal;
  /** The delay between two steps of the work, in milliseconds. */
  readonly stepMillis?: number;
  /** The delay between two stories, in milliseconds. */
  readonly restMillis?: number;
}

interface Step {
  readonly phase: 'planning' | 'implementing' | 'testing';
  readonly progress: number;
  readonly checkpoint?: { readonly summary: string; readonly nextSteps: string[] };
}

const steps: readonly Step[] = [
  { phase: 'planning', progress: 5 },
  { phase: 'planning', progress: 12 },
  {
    ...{ phase: 'implementing', progress: 25 },
    checkpoint: {
      summary: 'The spec is read; the change is small and stays in one module.',
      nextSteps: ['Write the code', 'Cover the refusals by tests'],
    },
  },
  { phase: 'implementing', progress: 40 },
  { phase: 'implementing', progress: 55 },
  {
    ...{ phase: 'testing', progress: 70 },
    checkpoint: {
      summary: 'The code is there and its tests pass; two edges are not covered.',
      nextSteps: ['Cover the two edges', 'Hand it in for review'],
    },
  },
  { phase: 'testing', progress: 80 },
  { phase: 'testing', progress: 90 },
];

/** The usage of one step. The reports are totals of the run. */
const stepUsage = {
  model: 'claude-sonnet-4-5',
  inputTokens: 9_000,
  outputTokens: 1_500,
  cachedTokens: 60_000,
};

/**
 * The index of the step before which one story asks the question. The work continues once a member answers.
 */
const askAt = 4;
export const question = 'Should this come behind a switch, so that it can be turned off without a release?';
/** The number of steps for which the agent waits for an answer before it continues without one. */
const patience = 20;

/** Waits, and returns immediately when the signal aborts. */
const pause = (millis: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, millis);
    signal.addEventListener('abort', end);
  });

const isFree = ({ execution, blocked, counts }: StoryCard): boolean =>
  blocked === null &&
  counts.openBlockers === 0 &&
  (execution === null || (execution.state === 'available' && !execution.needsRework));

/** Works until the signal aborts. After a refusal or an outage it rests and continues with another story. */
export async function workNowAndThen(
  client: Client,
  { projectKey, signal, stepMillis = 8_000, restMillis = 15_000 }: DemoAgentOptions,
): Promise<void> {
  let hasAsked = false;
  for (let round = 0; !signal.aborted; round += 1) {
    try {
      const { items } = await client.stories.list({
        ...{ projectId: projectKey, view: 'card', status: 'in_progress', limit: 50 },
      });
      const free = items.filter(isFree);
      const story = free[round % Math.max(1, free.length)];
      if (story !== undefined)
        hasAsked = (await workOn(client, story, !hasAsked, stepMillis, signal)) || hasAsked;
    } catch (error) {
      if (!(error instanceof MusterError || error instanceof NoAnswer)) throw error;
    }
    await pause(restMillis, signal);
  }
}

/** Works on a story. Returns true if it asked the question. */
async function workOn(
  { deliveryExecutions, comments }: Client,
  { id: storyId }: StoryCard,
  mayAsk: boolean,
  stepMillis: number,
  signal: AbortSignal,
): Promise<boolean> {
  const { execution, leaseToken } = await deliveryExecutions.acquire({
    ...{ targetType: 'story', targetId: storyId, runId: `demo-${randomUUID()}` },
  });
  const held = { executionId: execution.id, leaseToken };
  let isAsked = false;
  const isStopped = (signals: readonly Signal[]): boolean =>
    signal.aborted || signals.some(({ kind }) => kind === 'stop_requested');
  /** Asks the question and waits for the answer. Returns false if the agent has to stop. */
  const waitForAnswer = async (): Promise<boolean> => {
    const { comment } = await comments.create({ storyId, body: question, kind: 'question' });
    isAsked = true;
    await deliveryExecutions.update({ ...held, waitingFor: { questionId: comment.id } });
    for (let waited = 0; waited < patience; waited += 1) {
      await pause(stepMillis, signal);
      const { signals } = await deliveryExecutions.renew(held);
      if (isStopped(signals)) return false;
      if (signals.some(({ kind }) => kind === 'question_answered')) break;
    }
    await deliveryExecutions.update({ ...held, waitingFor: null });
    return true;
  };
  try {
    for (const [index, { phase, progress, checkpoint }] of steps.entries()) {
      if (mayAsk && index === askAt && !(await waitForAnswer())) break;
      const { signals } = await deliveryExecutions.update({ ...held, phase, progress });
      if (isStopped(signals)) break;
      const usage = { ...stepUsage };
      for (const count of ['inputTokens', 'outputTokens', 'cachedTokens'] as const) usage[count] *= index + 1;
      if (checkpoint === undefined) await deliveryExecutions.renew({ ...held, usage });
      else await deliveryExecutions.checkpoint({ ...held, ...checkpoint, usage });
      await pause(stepMillis, signal);
    }
  } finally {
    // The call is refused if another holder took the story over.
    await deliveryExecutions.release(held).catch((error: unknown) => {
      if (!(error instanceof MusterError || error instanceof NoAnswer)) throw error;
    });
  }
  return isAsked;
}
