/**
 * Runs the demo's agent, so that the first view of a board shows active work.
 * From time to time it takes a story that is assigned to it or in progress, reports progress and usage, asks a
 * question, attaches evidence, and releases the story. It notices a stop request with its next call, like any lease holder.
 */
import { createHash, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type Client, MusterError, NoAnswer } from '@muster/client';
import { type Signal, type StoryCard } from '@muster/contract';
import { parse } from 'yaml';
import { repositoryRoot } from './repository.ts';

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

const content = await readFile(path.join(import.meta.dirname, 'demo-agent.yaml'), 'utf8');
type Usage = Record<'inputTokens' | 'outputTokens' | 'cachedTokens', number> & { model: string };
/** The steps, and the usage of each. The agent reports totals of the run. */
const { steps, usage: stepUsage } = parse(content) as { steps: Step[]; usage: Usage };

/**
 * The index of the step before which one story asks the question. The work continues once a member answers.
 */
const askAt = 4;
export const question = 'Should this come behind a switch, so that it can be turned off without a release?';
/** The number of steps for which the agent waits for an answer before it continues without one. */
const patience = 20;

/** Waits, and returns immediately when the signal aborts. */
const pause = (millis: number, signal: AbortSignal): Promise<void> =>
  setTimeout(millis, undefined, { signal }).catch(() => undefined);

const testReport = '<testsuite name="checkout"><testcase name="pays by card" time="0.4"/></testsuite>';

/** Attaches the report of the tests and a screenshot to the work. */
async function attachEvidence({ attachments }: Client, targetId: string): Promise<void> {
  for (const [kind, name, contentType, content] of [
    ['test_report', 'junit.xml', 'application/xml', Buffer.from(testReport)],
    [
      'screenshot',
      'board.png',
      'image/png',
      await readFile(path.join(repositoryRoot, 'docs/pictures/board.png')),
    ],
  ] as const) {
    const sha256 = createHash('sha256').update(content).digest('hex');
    const { upload } = await attachments.create({
      ...{ targetType: 'execution', targetId, kind, name, contentType, size: content.length, sha256 },
    });
    await fetch(upload.url, { method: upload.method, headers: upload.headers, body: content });
  }
}

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
      const { agent } = await client.session.identity();
      const { items } = await client.stories.list({
        ...{ projectId: projectKey, view: 'card', status: ['ready', 'in_progress'], limit: 50 },
      });
      const { ready = [], in_progress: begun = [] } = Object.groupBy(
        items.filter(isFree),
        ({ status }) => status,
      );
      const assigned = ready.find(
        ({ assignees }) => assignees.agent !== null && assignees.agent.id === agent?.id,
      );
      const story = assigned ?? begun[round % Math.max(1, begun.length)];
      if (story !== undefined)
        hasAsked = (await workOn(client, story, !hasAsked, { projectKey, stepMillis, signal })) || hasAsked;
    } catch (error) {
      if (!(error instanceof MusterError || error instanceof NoAnswer)) throw error;
    }
    await pause(restMillis, signal);
  }
}

/** Works on a story. Returns true if it asked the question. */
async function workOn(
  client: Client,
  { id: storyId, status }: StoryCard,
  mayAsk: boolean,
  { projectKey, stepMillis, signal }: Required<Omit<DemoAgentOptions, 'restMillis'>>,
): Promise<boolean> {
  const { agents, deliveryExecutions, comments } = client;
  const runId = `demo-${randomUUID()}`;
  // Evidence of each turn on the same stories would fill the disk.
  const isNew = status === 'ready';
  const { execution, leaseToken } = await deliveryExecutions.acquire({
    ...{ targetType: 'story', targetId: storyId, runId },
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
      await agents.runEvent({
        ...{ projectId: projectKey, runId, storyId, executionId: execution.id, kind: 'log' },
        message: `${phase}: step ${index + 1} of ${steps.length}`,
      });
      const usage = { ...stepUsage };
      for (const count of ['inputTokens', 'outputTokens', 'cachedTokens'] as const) usage[count] *= index + 1;
      if (checkpoint === undefined) await deliveryExecutions.renew({ ...held, usage });
      else await deliveryExecutions.checkpoint({ ...held, ...checkpoint, usage });
      if (isNew && index === steps.length - 1) await attachEvidence(client, execution.id);
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
