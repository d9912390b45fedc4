/** Runs the agent once: prompts it, watches it, ends it, and returns the outcome. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { Failure } from '@muster/contract';
import { z } from 'zod';
import { writeCheckpoint } from './checkpoint.ts';
import { type Driver, createCommandDriver, type AgentOutcome, type AgentInstructions } from './driver.ts';
import { environmentFor, runFilesOf, writeMusterLauncher } from './environment.ts';
import { type ProcessGroup, startProcessGroup } from './group.ts';
import { processorTicksOf, stopProcesses } from './processes.ts';
import { buildPrompt } from './prompt.ts';
import { type ReadyRun, MachineSetupError } from './session.ts';
import { createOutputUsageReader, modelOfCommand } from './usage/output.ts';
import { WorktreeGoneError, isIntactWorktree } from './worktree.ts';

/** The reason why the agent was ended, or its result if it ended by itself. */
export type AgentEnding =
  | ({ readonly kind: 'over'; readonly tail: string; readonly result: Result | undefined } & AgentOutcome)
  | { readonly kind: 'stop' | 'lost' | 'leaving' | 'idle' | 'limit' | 'folder_gone' };

const AgentResult = z.strictObject({
  outcome: z.enum(['submitted', 'handoff', 'failed', 'canceled']),
  summary: z.string().min(1).max(4_000).optional(),
  failure: Failure.optional(),
  toMemberId: z.string().optional(),
  toAgentId: z.string().optional(),
});
export type Result = z.infer<typeof AgentResult>;

/** The interval between two checks of the worktree's HEAD commit. */
const headCheckIntervalMillis = 2_000;

async function readAgentResult(file: string, warn: (line: string) => void): Promise<Result | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    return AgentResult.parse(JSON.parse(text));
  } catch (error) {
    const why = error instanceof z.ZodError ? (error.issues[0]?.message ?? '') : 'it is not valid JSON';
    warn(`The result that the agent wrote is invalid: ${why}`);
    return undefined;
  }
}

/**
 * Replaces `{prompt}` and `{prompt-file}` within the words of the command. The agent also receives the prompt
 * on its standard input.
 */
const fillPlaceholders = (command: readonly string[], prompt: string, promptFile: string): string[] =>
  command.map((word) =>
    word.replaceAll('{prompt-file}', () => promptFile).replaceAll('{prompt}', () => prompt),
  );

/** Ends the processes that an interrupted start left behind. */
export async function stopLeftoverProcesses(run: ReadyRun): Promise<void> {
  const { runId } = run.own.get();
  await stopProcesses({ runId, group: undefined, graceMillis: 5_000 });
}

/** Starts the agent, and returns when all its processes have ended. */
export async function runAgent(
  run: ReadyRun,
  instructions: Omit<AgentInstructions, 'prompt' | 'model'>,
): Promise<AgentEnding> {
  const { own, session, work, worktree, client } = run;
  const files = runFilesOf(own.folder);
  const { protocol } = own.get();
  const byProtocol = protocol === 'acp' ? (await import('./acp.ts')).createProtocolDriver : undefined;
  const prompt = await buildPrompt(client, work, { protocol, note: instructions.note });
  await writeFile(files.prompt, prompt);
  await writeMusterLauncher(own.folder);
  await rm(files.result, { force: true });
  const entry = own.get();
  run.usage.beginProcess();
  const model = modelOfCommand(entry.command) ?? entry.agentName;
  // An agent that speaks the protocol reports its usage there.
  const readUsage = byProtocol === undefined ? createOutputUsageReader(model) : undefined;
  const group = await startProcessGroup({
    ...{ runId: entry.runId, folder: worktree.folder, logFile: files.log },
    ...(byProtocol === undefined && { input: prompt }),
    command: fillPlaceholders(entry.command, prompt, files.prompt),
    env: environmentFor(run),
    onLine: (line, stream) => {
      session.say.printOutputLine(work.key, line);
      run.log.addLine(line, stream);
      if (stream === 'stdout') run.usage.add(readUsage?.(line));
    },
    onReady: async (leader) => {
      await own.recordNextStep({ step: 'running', agent: leader, tries: entry.tries + 1 });
    },
  });
  session.say.reportStep(work.key, 'started', `${entry.agentName} is at work`);
  const driver =
    byProtocol?.(run, group, { prompt, model, ...instructions }) ?? createCommandDriver(group, run.lease);
  let ending: AgentEnding;
  try {
    ending = await watchAgent(run, group, driver);
    if (ending.kind !== 'over') await driver.requestStop();
  } finally {
    await group.stop(driver.graceMillis);
  }
  if (ending.kind !== 'over') return ending;
  if (ending.isUnstarted === true && entry.tries === 0)
    throw new MachineSetupError(`${ending.trouble ?? ''}\n${group.lastLines()}`);
  if (!(await isIntactWorktree(worktree))) return { kind: 'folder_gone' };
  return {
    ...ending,
    tail: group.lastLines(),
    result: await readAgentResult(files.result, session.say.warn),
  };
}

/**
 * Writes checkpoints while the agent works. Returns when the agent has ended or has to be ended, with the
 * reason.
 */
async function watchAgent(run: ReadyRun, group: ProcessGroup, driver: Driver): Promise<AgentEnding> {
  const { session, lease, signals, config } = run;
  const over = new AbortController();
  const aborted = (signal: AbortSignal, ending: AgentEnding): Promise<AgentEnding> =>
    new Promise((resolve) => {
      const tell = (): void => {
        resolve(ending);
      };
      if (signal.aborted) tell();
      else signal.addEventListener('abort', tell, { once: true, signal: over.signal });
    });
  try {
    return await Promise.race([
      driver.outcome.then((end): AgentEnding => ({ kind: 'over', tail: '', result: undefined, ...end })),
      aborted(lease.lost, { kind: 'lost' }),
      aborted(signals.stopRequested, { kind: 'stop' }),
      aborted(session.stopSignal, { kind: 'leaving' }),
      waitForTimeLimit(config.agent.limit, driver, over.signal),
      writeCheckpointsUntilIdle(run, { group, driver }, over.signal),
    ]);
  } finally {
    over.abort();
  }
}

const neverResolve = (): Promise<AgentEnding> => new Promise(() => undefined);

/**
 * Returns when the agent has worked for `millis` milliseconds. Time spent waiting for people does not count.
 */
async function waitForTimeLimit(
  limitMillis: number,
  driver: Driver,
  endSignal: AbortSignal,
): Promise<AgentEnding> {
  let left = limitMillis;
  while (left > 0) {
    const step = Math.min(left, headCheckIntervalMillis);
    await pause(step, undefined, { signal: endSignal }).catch(() => undefined);
    if (endSignal.aborted) return neverResolve();
    if (!driver.isWaiting()) left -= step;
  }
  return { kind: 'limit' };
}

/** Writes checkpoints. Returns only when the agent has been idle for too long or has removed its folder. */
async function writeCheckpointsUntilIdle(
  run: ReadyRun,
  { group, driver }: { group: ProcessGroup; driver: Driver },
  endSignal: AbortSignal,
): Promise<AgentEnding> {
  const { config, worktree, session, own, work } = run;
  const headOf = (): Promise<string> => worktree.git(['rev-parse', 'HEAD']).catch(() => '');
  const processorTime = (): Promise<number> => processorTicksOf(own.get().runId);
  let head = await headOf();
  let due = performance.now() + config.checkpoint;
  let alive = performance.now();
  let worked = await processorTime();
  const save = async (): Promise<void> => {
    due = performance.now() + config.checkpoint;
    if (await writeCheckpoint(run)) alive = performance.now();
  };
  for (;;) {
    await pause(Math.min(headCheckIntervalMillis, config.checkpoint), undefined, { signal: endSignal }).catch(
      () => undefined,
    );
    if (endSignal.aborted) return neverResolve();
    if (driver.isWaiting()) alive = performance.now();
    try {
      const now = await headOf();
      if (now !== head || performance.now() >= due) await save();
      head = now;
      const quietSince = (): number => Math.max(alive, group.lastOutputMillis());
      if (performance.now() - quietSince() < config.agent.idle) continue;
      const spent = await processorTime();
      if (spent > worked) alive = performance.now();
      worked = spent;
      await save();
      if (performance.now() - quietSince() >= config.agent.idle) return { kind: 'idle' };
    } catch (error) {
      if (error instanceof WorktreeGoneError) return { kind: 'folder_gone' };
      session.say.warn(`${work.key}: no checkpoint: ${(error as Error).message}`);
    }
  }
}
