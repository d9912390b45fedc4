/** Runs work on a story from start to end, and resumes it from the step at which a runner died. */
import { setTimeout as pause } from 'node:timers/promises';
import { type Acquired, holdLease, isRefusal, MusterError } from '@muster/client';
import { type AgentEnding, endLeftovers, runAgent } from './agent.ts';
import { writeCheckpoint } from './checkpoint.ts';
import { type WorkConfig } from './config.ts';
import { isQuestionOpen } from './driver.ts';
import { filesOf } from './environment.ts';
import { close, conclude, settleFolder } from './finish.ts';
import { GitError } from './git.ts';
import { endTokens, identifyRun, NoRunToken } from './identity.ts';
import { type OwnEntry, type RunResult } from './journal.ts';
import { listen, openSignals } from './listen.ts';
import { prepare, runHook } from './prepare.ts';
import { stopProcesses } from './processes.ts';
import { type Base, findBase, readConfig } from './repository.ts';
import { ConfigChanged } from './trusted-config.ts';
import {
  clientFor,
  type ReadyRun,
  type StoryRun,
  type RunnerSession,
  SetUpFailed,
  waitingClientFor,
} from './session.ts';
import { gone, take, takeAgain, verdictOf, type StoryFilter } from './take.ts';
import {
  authorOf,
  FolderGone,
  forgetWorktree,
  isWhole,
  push,
  saveSnapshot,
  switchBack,
  worktreeAt,
} from './worktree.ts';

export interface RunSettings {
  readonly base: Base;
  readonly config: WorkConfig;
}

/** Reads the current base commit and settings of the repository. */
export async function settle(session: RunnerSession, base: string | undefined): Promise<RunSettings> {
  const { repository, say } = session;
  // Fail early in a damaged repository. The calls below would only report a missing branch.
  await repository.git(['rev-parse', '--git-dir']);
  const first = await findBase(repository, base, say.warn);
  const config = await readConfig(repository, first);
  if (base !== undefined || config.base === undefined || config.base === first.name)
    return { base: first, config };
  return { base: await findBase(repository, config.base, say.warn), config };
}

/**
 * Acquires a story and works on it to the end, or continues from the journal entry. Returns undefined if
 * there was no story to acquire. Throws SetUpFailed if this machine is at fault.
 */
export async function work(
  session: RunnerSession,
  own: OwnEntry,
  setting: RunSettings,
  wanted: StoryFilter | undefined,
): Promise<RunResult | undefined> {
  const { connection, caller, repository, say } = session;
  const { runId, project, agentName } = own.get();
  // Runs before a story is acquired, so that no story is taken if git fails in the repository.
  const author = await authorOf(repository, agentName);
  const forgetRefused = async (error: unknown): Promise<never> => {
    // A rejected call changed nothing, so there is nothing to resume.
    const isRefused = error instanceof MusterError ? error.status < 500 : error instanceof NoRunToken;
    if (wanted !== undefined && isRefused) await own.drop();
    throw error;
  };
  const given = { token: connection.token, runId, project, agentName, asMe: session.asMe };
  const identity = await identifyRun(caller, given).catch(wanted === undefined ? gone : forgetRefused);
  if (identity === undefined)
    return closeWithout(session, own, lostOrLet(own.get().verdict, 'its project was deleted'));
  try {
    await own.write({ holderId: identity.holderId });
    const client = clientFor(connection, identity.token);
    let acquired: Acquired;
    if (wanted === undefined) {
      const found = await takeAgain(client, own.get());
      if (found.kind === 'none') {
        await own.drop();
        return undefined;
      }
      if (found.kind !== 'held') {
        const verdict: RunResult =
          found.kind === 'over'
            ? (own.get().verdict ?? verdictOf(found.execution))
            : lostOrLet(own.get().verdict, found.why);
        return await closeWithout(session, own, verdict);
      }
      ({ acquired } = found);
    } else {
      const waiting = waitingClientFor(connection, identity.token, wanted.until);
      const onNone = (why: string): void => {
        say.tell(project, 'none', why === '' ? 'No story is available.' : `No story is available: ${why}`);
      };
      const taken = await take(
        { client, waiting, entry: own.get(), siblings: session.siblings, leaving: wanted.until, onNone },
        wanted,
      ).catch(forgetRefused);
      if (taken === undefined) {
        await own.drop();
        return undefined;
      }
      acquired = taken;
    }
    return await hold(session, own, setting, acquired, { identity, client, author });
  } finally {
    await endTokens(caller, runId).catch((error: unknown) => {
      say.warn(
        `the token of the run could not be revoked and stays until it expires: ${(error as Error).message}`,
      );
    });
  }
}

async function hold(
  session: RunnerSession,
  own: OwnEntry,
  { base, config }: RunSettings,
  acquired: Acquired,
  { identity, client, author }: Pick<StoryRun, 'identity' | 'client' | 'author'>,
): Promise<RunResult> {
  const signals = openSignals(filesOf(own.folder).signals);
  const lease = holdLease(client, acquired, { onSignal: signals.hear });
  const over = new AbortController();
  void listen(waitingClientFor(session.connection, identity.token, over.signal), lease, over.signal);
  try {
    const run: StoryRun = { session, own, client, identity, lease, config, author, signals };
    const { story } = await client.stories.get({ storyId: lease.execution().targetId });
    session.say.tell(story.key, 'taken', `${story.title} (epoch ${lease.execution().lease?.epoch ?? 0})`, {
      ...{ executionId: lease.executionId, runId: own.get().runId },
    });
    try {
      const ready = await prepare(run, base, story);
      const verdict = await toTheEnd(ready);
      await close(ready, verdict);
      return verdict;
    } catch (error) {
      if (error instanceof SetUpFailed) await abandon(run, error);
      throw error;
    }
  } finally {
    over.abort();
    lease.putDown();
    session.siblings.held.delete(acquired.execution.targetId);
  }
}

/** Carries out a recorded verdict. Without one, starts the agent first. */
async function toTheEnd(run: ReadyRun): Promise<RunResult> {
  const before = run.own.get();
  if (before.step === 'running') {
    run.session.say.tell(run.work.key, 'adopted', 'continues: the previous runner died');
    await endLeftovers(run);
  }
  let verdict = before.verdict;
  try {
    if (verdict === undefined) {
      verdict = await agentToTheEnd(
        run,
        before.step === 'running' ? 'You were interrupted; your files are unchanged.' : undefined,
      );
      await run.own.write({ step: 'ended', verdict });
    }
    return await conclude(run, verdict);
  } catch (error) {
    if (await isFolderGone(run, error)) return conclude(run, folderGone);
    if (error instanceof ConfigChanged || error instanceof GitError)
      return conclude(run, { outcome: 'failed', failure: 'agent_error', summary: error.message });
    if (!isRefusal(error, 'stale_lease')) throw error;
    const stale = await whatBecame(run);
    await writeCheckpoint(run).catch(() => undefined);
    return stale;
  }
}

/**
 * Returns true if the error means that the run's folder is gone. If a program could not be started, the
 * folder itself is checked.
 */
const isFolderGone = async ({ worktree }: ReadyRun, error: unknown): Promise<boolean> =>
  error instanceof FolderGone ||
  ((error as NodeJS.ErrnoException).code === 'ENOENT' && !(await isWhole(worktree)));

const folderGone: RunResult = {
  outcome: 'failed',
  failure: 'agent_error',
  summary: 'The agent removed its own folder.',
};

/** Describes the state of work whose lease this run no longer holds. */
async function whatBecame({ client, work, own }: ReadyRun): Promise<RunResult> {
  const found = await client.deliveryExecutions.get({ executionId: work.executionId }).catch(gone);
  if (found === undefined) return { outcome: 'lost', summary: 'its story was deleted' };
  const { execution } = found;
  if (execution.runId === own.get().runId && execution.lease === null) return verdictOf(execution);
  return {
    outcome: 'lost',
    summary: `${execution.lease?.holder.name ?? 'someone else'} has taken over the story`,
  };
}

/** Starts the agent, again if its work fails the checks, until there is a verdict. */
async function agentToTheEnd(run: ReadyRun, firstNote: string | undefined): Promise<RunResult> {
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
    const heard = await interruption(run);
    if (heard !== undefined) return heard;
    if (trouble !== undefined) return { outcome: 'failed', failure: 'infra', summary: trouble };
    const news = signals.take();
    const ending = await runAgent(run, {
      note: [note, ...news.map(({ line }) => line)].filter((line) => line !== undefined).join('\n'),
      isNoteEnough: !news.some(({ changesContext }) => changesContext),
    });
    await writeCheckpoint(run).catch((error: unknown) => {
      if (!(error instanceof FolderGone))
        session.say.warn(`${work.key}: no checkpoint: ${(error as Error).message}`);
    });
    if (ending.kind === 'over' && ending.isKilled === true && (await interruption(run)) === undefined) {
      if (wasKilled) return { outcome: 'release', summary: 'The agent was killed by a signal twice.' };
      wasKilled = true;
      session.say.tell(work.key, 'killed', 'the agent was killed by a signal; starting it once more');
      note = 'You were killed by a signal; your files are unchanged.';
      tries -= 1;
      continue;
    }
    const verdict = await judge(run, ending);
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
    if (verify !== undefined) await lease.update({ phase: 'testing' });
    const wrong = verify && (await runHook(run, 'verify', verify));
    const interrupted = await interruption(run);
    if (interrupted !== undefined) return interrupted;
    const summary =
      (ending.kind === 'over' ? ending.result?.summary || ending.summary : undefined) ||
      `${work.key} ${work.title}`;
    if (wrong === undefined) return { outcome: 'submitted', summary };
    session.say.tell(work.key, 'refused', wrong.split('\n')[0] ?? '', { tries: own.get().tries });
    if (isLast) return { outcome: 'failed', failure: 'agent_error', summary: wrong };
    note = `Your work does not pass the checks:\n\n${wrong}`;
  }
}

/** Translates the end of an agent into a verdict. An agent that ended well is still to be checked. */
async function judge(run: ReadyRun, ending: AgentEnding): Promise<RunResult | 'unchecked'> {
  switch (ending.kind) {
    case 'lost':
      return whatBecame(run);
    case 'stop':
      return stopped;
    case 'leaving':
      return left;
    case 'idle':
      return { outcome: 'failed', failure: 'timeout', summary: 'The agent was idle for too long.' };
    case 'limit':
      return { outcome: 'failed', failure: 'timeout', summary: 'The agent took too long.' };
    case 'folder_gone':
      return folderGone;
    case 'over':
      break;
  }
  // The agent may have ended the work itself, which a renewal of the lease shows.
  await run.lease.renew().catch((error: unknown) => {
    if (!isRefusal(error, 'stale_lease')) throw error;
  });
  if (run.lease.isOver()) return whatBecame(run);
  const { trouble, failure = 'agent_error', result, tail } = ending;
  if (result !== undefined && result.outcome !== 'submitted') {
    const { summary = "The agent's output ended.", ...rest } = result;
    return { ...rest, summary };
  }
  if (trouble === undefined || result !== undefined) return 'unchecked';
  return { outcome: 'failed', failure, summary: `${trouble}\n${tail}` };
}

const stopped: RunResult = { outcome: 'canceled', summary: 'A stop was requested.' };
const left: RunResult = { outcome: 'release', summary: 'The runner was stopped.' };

async function interruption(run: ReadyRun): Promise<RunResult | undefined> {
  if (run.lease.lost.aborted) return whatBecame(run);
  if (run.signals.stopRequested.aborted) return stopped;
  return run.session.leaving.aborted ? left : undefined;
}

/** Returns undefined when the question is answered, else the reason why the run stops waiting. */
async function waitForAnswer(run: ReadyRun): Promise<RunResult | undefined> {
  run.session.say.tell(run.work.key, 'waiting', 'waits for an answer');
  while (isQuestionOpen(run.lease)) {
    const heard = await interruption(run);
    if (heard !== undefined) return heard;
    await pause(250);
  }
  return undefined;
}

/** Releases the story if the work could not begin. */
async function abandon({ session, own, lease }: StoryRun, { message }: SetUpFailed): Promise<void> {
  if (!lease.isOver()) await lease.release(`The setup failed: ${message}`.slice(0, 2_000));
  const { work, here, agentName } = own.get();
  if (!here && work?.gitDir !== undefined) {
    const author = await authorOf(session.repository, agentName);
    await saveSnapshot(worktreeAt(work.folder, work.gitDir), { ref: work.ref, message, author });
  }
  await forgetFolder(session, own);
  session.say.warn(`${work?.key ?? 'the story'} was released: ${message.split('\n')[0] ?? ''}`);
  await own.drop();
}

/** Removes the folder of a run in which no agent has worked. */
async function forgetFolder({ repository }: RunnerSession, own: OwnEntry): Promise<void> {
  const { work, here, cameFrom } = own.get();
  if (here) {
    if (cameFrom !== undefined) await repository.git.ask(switchBack(cameFrom), { answers: [0, 1, 128] });
  } else if (work !== undefined) await forgetWorktree(repository, work);
}

/**
 * Returns the verdict of a run that no longer holds its lease. A run that released or handed over its story
 * keeps its verdict; any other run lost the story.
 */
const lostOrLet = (verdict: RunResult | undefined, why: string): RunResult =>
  verdict?.outcome === 'release' || verdict?.outcome === 'handoff'
    ? verdict
    : { outcome: 'lost', summary: why };

/**
 * Closes a run whose work has ended at the API or belongs to another holder. Saves its files, and pushes
 * nothing to the branch.
 */
async function closeWithout(session: RunnerSession, own: OwnEntry, verdict: RunResult): Promise<RunResult> {
  const { work, runId, agentName } = own.get();
  await stopProcesses({ runId, group: undefined, graceMillis: 5_000 });
  if (work?.gitDir === undefined) {
    await forgetFolder(session, own);
    await own.drop();
    return verdict;
  }
  const worktree = worktreeAt(work.folder, work.gitDir);
  const author = await authorOf(session.repository, agentName);
  await saveSnapshot(worktree, { ref: work.ref, message: `Checkpoint of ${work.key}`, author })
    .then(async (saved) => saved && push(session.repository, saved.commit, work.ref, true))
    .catch((error: unknown) => {
      session.say.warn(`${work.key}: ${(error as Error).message}`);
    });
  await settleFolder({ session, own, work, worktree, author }, verdict);
  return verdict;
}
