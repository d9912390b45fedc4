/** Runs work on a story from start to end, and resumes it from the step at which a runner died. */
import { setTimeout as pause } from 'node:timers/promises';
import { type Acquired, holdLease, isRefusal, MusterError } from '@muster/client';
import { maxRunMessageChars } from '@muster/contract';
import { type AgentEnding, stopLeftoverProcesses, runAgent } from './agent.ts';
import { writeCheckpoint } from './checkpoint.ts';
import { type WorkConfig } from './config.ts';
import { isQuestionOpen } from './driver.ts';
import { runFilesOf } from './environment.ts';
import { closeRun, reportRunResult, removeOrKeepFolder } from './finish.ts';
import { GitError } from './git.ts';
import { revokeRunTokens, createRunIdentity, type RunIdentity, RunTokenError } from './identity.ts';
import { type OwnedEntry, type RunResult } from './journal.ts';
import { renewLeaseOnEvents, openSignalInbox } from './listen.ts';
import { prepareRun, runHook } from './prepare.ts';
import { stopProcesses } from './processes.ts';
import { RunLog } from './run-log.ts';
import { knownSecrets } from './secrets.ts';
import { type BaseCommit, findBaseCommit, readRepositoryConfig } from './repository.ts';
import { GitConfigChangedError } from './trusted-config.ts';
import {
  createRunClient,
  type ReadyRun,
  type StoryRun,
  type RunnerSession,
  MachineSetupError,
  createWaitingClient,
} from './session.ts';
import {
  ignoreNotFound,
  ignoreOutage,
  acquireStory,
  reacquireStory,
  retryDuringOutage,
  endedResultOf,
  type StoryFilter,
} from './take.ts';
import { RunUsage } from './usage/run-usage.ts';
import {
  readAuthor,
  WorktreeGoneError,
  removeUnusedWorktree,
  isIntactWorktree,
  pushCommit,
  saveSnapshot,
  switchBackArguments,
  worktreeAt,
} from './worktree.ts';

export interface RunSettings {
  readonly base: BaseCommit;
  readonly config: WorkConfig;
}

/** Reads the current base commit and settings of the repository. */
export async function loadRunSettings(
  session: RunnerSession,
  baseName: string | undefined,
): Promise<RunSettings> {
  const { repository, say } = session;
  // Fail early in a damaged repository. The calls below would only report a missing branch.
  await repository.git(['rev-parse', '--git-dir']);
  const first = await findBaseCommit(repository, baseName, say.warn);
  const config = await readRepositoryConfig(repository, first);
  if (baseName !== undefined || config.base === undefined || config.base === first.name)
    return { base: first, config };
  return { base: await findBaseCommit(repository, config.base, say.warn), config };
}

/**
 * Acquires a story and works on it to the end, or continues from the journal entry. Returns undefined if
 * there was no story to acquire. Throws MachineSetupError if this machine is at fault.
 */
export async function workOnStory(
  session: RunnerSession,
  journalEntry: OwnedEntry,
  settings: RunSettings,
  filter: StoryFilter | undefined,
): Promise<RunResult | undefined> {
  const { connection, callerClient, repository, say } = session;
  const { runId, project, agentName } = journalEntry.get();
  // Runs before a story is acquired, so that no story is taken if git fails in the repository.
  const author = await readAuthor(repository, agentName);
  const forgetRefused = async (error: unknown): Promise<never> => {
    // A rejected call changed nothing, so there is nothing to resume.
    const isRefused = error instanceof MusterError ? error.status < 500 : error instanceof RunTokenError;
    if (filter !== undefined && isRefused) await journalEntry.deleteEntry();
    throw error;
  };
  const identity = await createIdentity(session, journalEntry, filter).catch(
    filter === undefined ? ignoreNotFound : forgetRefused,
  );
  if (identity === undefined && filter !== undefined) {
    await journalEntry.deleteEntry();
    return undefined;
  }
  if (identity === undefined)
    return closeWithoutLease(
      session,
      journalEntry,
      resultWithoutLease(journalEntry.get().verdict, 'its project was deleted'),
    );
  try {
    await journalEntry.write({ holderId: identity.holderId });
    const client = createRunClient(connection, identity.token);
    let acquired: Acquired;
    if (filter === undefined) {
      const found = await reacquireStory(client, journalEntry.get());
      if (found.kind === 'none') {
        await journalEntry.deleteEntry();
        return undefined;
      }
      if (found.kind !== 'held') {
        const verdict: RunResult =
          found.kind === 'over'
            ? (journalEntry.get().verdict ?? endedResultOf(found.execution))
            : resultWithoutLease(journalEntry.get().verdict, found.why);
        return await closeWithoutLease(session, journalEntry, verdict);
      }
      ({ acquired } = found);
    } else {
      const waiting = createWaitingClient(connection, identity.token, filter.searchEndSignal);
      const onNone = (why: string): void => {
        say.reportStep(
          project,
          'none',
          why === '' ? 'No story is available.' : `No story is available: ${why}`,
        );
      };
      const taken = await acquireStory(
        {
          client,
          waitingClient: waiting,
          entry: journalEntry.get(),
          parallelRuns: session.parallelRuns,
          stopSignal: filter.searchEndSignal,
          onNoStory: onNone,
        },
        filter,
      ).catch(forgetRefused);
      if (taken === undefined) {
        await journalEntry.deleteEntry();
        return undefined;
      }
      acquired = taken;
    }
    return await workUnderLease(session, journalEntry, settings, acquired, { identity, client, author });
  } finally {
    await revokeRunTokens(callerClient, runId).catch((error: unknown) => {
      say.warn(
        `the token of the run could not be revoked and stays until it expires: ${(error as Error).message}`,
      );
    });
  }
}

/**
 * Creates the identity of a run. Returns undefined if the runner was asked to end while it waited for the end
 * of an outage.
 */
function createIdentity(
  { connection, callerClient, worksAsCallingAgent }: RunnerSession,
  journalEntry: OwnedEntry,
  filter: StoryFilter | undefined,
): Promise<RunIdentity | undefined> {
  const { runId, project, agentName } = journalEntry.get();
  const given = { token: connection.token, runId, project, agentName, asMe: worksAsCallingAgent };
  const create = (): Promise<RunIdentity> => createRunIdentity(callerClient, given);
  return filter?.outlastsOutage === true ? retryDuringOutage(create, filter.searchEndSignal) : create();
}

async function workUnderLease(
  session: RunnerSession,
  journalEntry: OwnedEntry,
  { base, config }: RunSettings,
  acquired: Acquired,
  { identity, client, author }: Pick<StoryRun, 'identity' | 'client' | 'author'>,
): Promise<RunResult> {
  session.parallelRuns.heldStoryIds.add(acquired.execution.targetId);
  const signals = openSignalInbox(runFilesOf(journalEntry.folder).signals);
  const lease = holdLease(client, acquired, { onSignal: signals.receiveSignal });
  const over = new AbortController();
  void renewLeaseOnEvents(
    createWaitingClient(session.connection, identity.token, over.signal),
    lease,
    over.signal,
  );
  const { connection } = session;
  const reported = {
    projectId: lease.execution().projectId,
    runId: journalEntry.get().runId,
    executionId: lease.executionId,
  };
  const log = new RunLog({
    client: createWaitingClient(connection, identity.token, over.signal),
    run: reported,
    secrets: [connection.token, identity.token, lease.leaseToken, ...knownSecrets()],
  });
  const usage = new RunUsage(lease, runFilesOf(journalEntry.folder).usage);
  try {
    const run: StoryRun = {
      session,
      own: journalEntry,
      client,
      identity,
      lease,
      config,
      author,
      signals,
      log,
      usage,
    };
    const { story } = await client.stories.get({ storyId: lease.execution().targetId });
    session.say.reportStep(
      story.key,
      'taken',
      `${story.title} (epoch ${lease.execution().lease?.epoch ?? 0})`,
      {
        ...{ executionId: lease.executionId, runId: journalEntry.get().runId },
      },
    );
    try {
      const ready = await prepareRun(run, base, story);
      const verdict = await runToVerdict(ready);
      // The API itself ends the run of completed work.
      if (verdict.outcome === 'release' || verdict.outcome === 'handoff')
        await client.agents
          .runEvent({ ...reported, kind: 'canceled', message: verdict.summary.slice(0, maxRunMessageChars) })
          .catch(() => undefined);
      await closeRun(ready, verdict);
      return verdict;
    } catch (error) {
      if (error instanceof MachineSetupError) await releaseFailedSetup(run, error);
      throw error;
    }
  } finally {
    log.close();
    usage.close();
    over.abort();
    lease.putDown();
    session.parallelRuns.heldStoryIds.delete(acquired.execution.targetId);
  }
}

/** The time limit for the last lines of the log. */
const logFlushMillis = 5_000;
/** The time limit for the last report of usage. It is longer, because budgets depend on the report. */
const usageFlushMillis = 30_000;

const waitAtMost = (millis: number, work: Promise<void>): Promise<void> =>
  Promise.race([work, pause(millis, undefined, { ref: false })]);

/** Carries out a recorded verdict. Without one, starts the agent first. */
async function runToVerdict(run: ReadyRun): Promise<RunResult> {
  const before = run.own.get();
  if (before.step === 'running') {
    run.session.say.reportStep(run.work.key, 'adopted', 'continues: the previous runner died');
    await stopLeftoverProcesses(run);
  }
  await run.usage.restore();
  let verdict = before.verdict;
  try {
    if (verdict === undefined) {
      verdict = await runAgentUntilVerdict(
        run,
        before.step === 'running' ? 'You were interrupted; your files are unchanged.' : before.request,
      );
      await run.own.write({ step: 'ended', verdict });
    }
    // The completion ends the run, and an ended run accepts no more lines and no usage.
    await Promise.all([
      waitAtMost(logFlushMillis, run.log.flush()),
      waitAtMost(usageFlushMillis, run.usage.flush()),
    ]);
    return await reportRunResult(run, verdict);
  } catch (error) {
    if (await isFolderGone(run, error)) return reportRunResult(run, folderGoneResult);
    if (error instanceof GitConfigChangedError || error instanceof GitError)
      return reportRunResult(run, { outcome: 'failed', failure: 'agent_error', summary: error.message });
    if (!isRefusal(error, 'stale_lease')) throw error;
    const stale = await describeLostWork(run);
    await writeCheckpoint(run).catch(() => undefined);
    return stale;
  }
}

/**
 * Returns true if the error means that the run's folder is gone. If a program could not be started, the
 * folder itself is checked.
 */
const isFolderGone = async ({ worktree }: ReadyRun, error: unknown): Promise<boolean> =>
  error instanceof WorktreeGoneError ||
  ((error as NodeJS.ErrnoException).code === 'ENOENT' && !(await isIntactWorktree(worktree)));

const folderGoneResult: RunResult = {
  outcome: 'failed',
  failure: 'agent_error',
  summary: 'The agent removed its own folder.',
};

/** Describes the state of work whose lease this run no longer holds. */
async function describeLostWork({
  client,
  work,
  own,
}: Pick<ReadyRun, 'client' | 'work' | 'own'>): Promise<RunResult> {
  const found = await client.deliveryExecutions.get({ executionId: work.executionId }).catch(ignoreNotFound);
  if (found === undefined) return { outcome: 'lost', summary: 'its story was deleted' };
  const { execution } = found;
  if (execution.runId === own.get().runId && execution.lease === null) return endedResultOf(execution);
  return {
    outcome: 'lost',
    summary: `${execution.lease?.holder.name ?? 'someone else'} has taken over the story`,
  };
}

/** Starts the agent, again if its work fails the checks, until there is a verdict. */
async function runAgentUntilVerdict(run: ReadyRun, firstNote: string | undefined): Promise<RunResult> {
  const { config, lease, signals, own, session, work } = run;
  let note = firstNote;
  let wasKilled = false;
  if (isQuestionOpen(lease)) {
    const unanswered = await waitForAnswer(run);
    if (unanswered !== undefined) return unanswered;
  }
  for (let tries = 1; ; tries += 1) {
    const isLast = tries >= config.agent.tries;
    const before = config.hooks.before_run;
    const trouble = before && (await runHook(run, 'before_run', before));
    const heard = await findInterruption(run);
    if (heard !== undefined) return heard;
    if (trouble !== undefined) return { outcome: 'failed', failure: 'infra', summary: trouble };
    const news = signals.takeNews();
    const ending = await runAgent(run, {
      note: [note, ...news.map(({ line }) => line)].filter((line) => line !== undefined).join('\n'),
      isNoteEnough: !news.some(({ changesContext }) => changesContext),
    });
    await writeCheckpoint(run).catch((error: unknown) => {
      if (!(error instanceof WorktreeGoneError))
        session.say.warn(`${work.key}: no checkpoint: ${(error as Error).message}`);
    });
    if (ending.kind === 'over' && ending.isKilled === true && (await findInterruption(run)) === undefined) {
      if (wasKilled) return { outcome: 'release', summary: 'The agent was killed by a signal twice.' };
      wasKilled = true;
      session.say.reportStep(work.key, 'killed', 'the agent was killed by a signal; starting it once more');
      note = 'You were killed by a signal; your files are unchanged.';
      tries -= 1;
      continue;
    }
    const verdict = await judgeEnding(run, ending);
    if (verdict !== 'unchecked') {
      if (ending.kind !== 'idle' || isLast) return verdict;
      note =
        'You were idle for too long, so the runner stopped and restarted you. Continue the work, and exit when it is done.';
      continue;
    }
    if (isQuestionOpen(lease)) {
      const answered = await waitForAnswer(run);
      if (answered !== undefined) return answered;
      note = undefined;
      tries -= 1;
      continue;
    }
    const verify = config.hooks.verify;
    if (verify !== undefined) await lease.update({ phase: 'testing' }).catch(ignoreOutage);
    const wrong = verify && (await runHook(run, 'verify', verify));
    const interrupted = await findInterruption(run);
    if (interrupted !== undefined) return interrupted;
    const summary =
      (ending.kind === 'over' ? ending.result?.summary || ending.summary : undefined) ||
      `${work.key} ${work.title}`;
    if (wrong === undefined) return { outcome: 'submitted', summary };
    session.say.reportStep(work.key, 'refused', wrong.split('\n')[0] ?? '', { tries: own.get().tries });
    if (isLast) return { outcome: 'failed', failure: 'agent_error', summary: wrong };
    note = `Your work does not pass the checks:\n\n${wrong}`;
  }
}

/**
 * Translates the end of an agent into a verdict. An agent that ended well is still to be checked. An outage
 * of Muster does not prevent the verdict, so that the journal has it and only the report waits.
 */
export async function judgeEnding(
  run: Pick<ReadyRun, 'client' | 'lease' | 'own' | 'work'>,
  ending: AgentEnding,
): Promise<RunResult | 'unchecked'> {
  switch (ending.kind) {
    case 'lost':
      return describeLostWork(run);
    case 'stop':
      return stopRequestedResult;
    case 'leaving':
      return runnerStoppedResult;
    case 'idle':
      return { outcome: 'failed', failure: 'timeout', summary: 'The agent was idle for too long.' };
    case 'limit':
      return { outcome: 'failed', failure: 'timeout', summary: 'The agent took too long.' };
    case 'folder_gone':
      return folderGoneResult;
    case 'over':
      break;
  }
  // The agent may have ended the work itself, which a renewal of the lease shows.
  await run.lease.renew().catch((error: unknown) => {
    if (!isRefusal(error, 'stale_lease')) ignoreOutage(error);
  });
  if (run.lease.isOver()) return describeLostWork(run);
  const { trouble, failure = 'agent_error', result, tail } = ending;
  if (result !== undefined && result.outcome !== 'submitted') {
    const { summary = "The agent's output ended.", ...rest } = result;
    return { ...rest, summary };
  }
  if (trouble === undefined || result !== undefined) return 'unchecked';
  return { outcome: 'failed', failure, summary: `${trouble}\n${tail}` };
}

const stopRequestedResult: RunResult = { outcome: 'canceled', summary: 'A stop was requested.' };
const runnerStoppedResult: RunResult = { outcome: 'release', summary: 'The runner was stopped.' };

async function findInterruption(run: ReadyRun): Promise<RunResult | undefined> {
  if (run.lease.lost.aborted) return describeLostWork(run);
  if (run.signals.stopRequested.aborted) return stopRequestedResult;
  return run.session.stopSignal.aborted ? runnerStoppedResult : undefined;
}

/** Returns undefined when the question is answered, else the reason why the run stops waiting. */
async function waitForAnswer(run: ReadyRun): Promise<RunResult | undefined> {
  run.session.say.reportStep(run.work.key, 'waiting', 'waits for an answer');
  while (isQuestionOpen(run.lease)) {
    const heard = await findInterruption(run);
    if (heard !== undefined) return heard;
    await pause(250);
  }
  return undefined;
}

/** Releases the story if the work could not begin. */
async function releaseFailedSetup(
  { session, own, lease }: StoryRun,
  { message }: MachineSetupError,
): Promise<void> {
  if (!lease.isOver()) await lease.release(`The setup failed: ${message}`.slice(0, 2_000));
  const { work, here, agentName } = own.get();
  if (!here && work?.gitDir !== undefined) {
    const author = await readAuthor(session.repository, agentName);
    await saveSnapshot(worktreeAt(work.folder, work.gitDir), { ref: work.ref, message, author });
  }
  await discardRunFolder(session, own);
  session.say.warn(`${work?.key ?? 'the story'} was released: ${message.split('\n')[0] ?? ''}`);
  await own.deleteEntry();
}

/** Removes the folder of a run in which no agent has worked. */
async function discardRunFolder({ repository }: RunnerSession, journalEntry: OwnedEntry): Promise<void> {
  const { work, here, cameFrom } = journalEntry.get();
  if (here) {
    if (cameFrom !== undefined)
      await repository.git.ask(switchBackArguments(cameFrom), { allowedExitCodes: [0, 1, 128] });
  } else if (work !== undefined) await removeUnusedWorktree(repository, work);
}

/**
 * Returns the verdict of a run that no longer holds its lease. A run that released or handed over its story
 * keeps its verdict; any other run lost the story.
 */
const resultWithoutLease = (verdict: RunResult | undefined, lostReason: string): RunResult =>
  verdict?.outcome === 'release' || verdict?.outcome === 'handoff'
    ? verdict
    : { outcome: 'lost', summary: lostReason };

/**
 * Closes a run whose work has ended at the API or belongs to another holder. Saves its files, and pushes
 * nothing to the branch.
 */
async function closeWithoutLease(
  session: RunnerSession,
  journalEntry: OwnedEntry,
  verdict: RunResult,
): Promise<RunResult> {
  const { work, runId, agentName } = journalEntry.get();
  await stopProcesses({ runId, group: undefined, graceMillis: 5_000 });
  if (work?.gitDir === undefined) {
    await discardRunFolder(session, journalEntry);
    await journalEntry.deleteEntry();
    return verdict;
  }
  const worktree = worktreeAt(work.folder, work.gitDir);
  const author = await readAuthor(session.repository, agentName);
  await saveSnapshot(worktree, { ref: work.ref, message: `Checkpoint of ${work.key}`, author })
    .then(async (saved) => saved && pushCommit(session.repository, saved.commit, work.ref, true))
    .catch((error: unknown) => {
      session.say.warn(`${work.key}: ${(error as Error).message}`);
    });
  await removeOrKeepFolder({ session, own: journalEntry, work, worktree, author }, verdict);
  return verdict;
}
