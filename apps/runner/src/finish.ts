/**
 * The end of a run: checks, commits, pushes and submits the work, then releases what the run used of the
 * machine.
 */
import { MusterError } from '@muster/client';
import { type Execution } from '@muster/contract';
import { shortestFolderPath } from '@muster/terminal';
import { writeCheckpoint } from './checkpoint.ts';
import { attachEvidence } from './attach/evidence.ts';
import { openPullRequest } from './forge/open.ts';
import { type OpenedPullRequest } from './forge/pull-requests.ts';
import { type JournalEntry, type RunResult } from './journal.ts';
import { releasePorts } from './ports.ts';
import { runHook } from './prepare.ts';
import { type ReadyRun } from './session.ts';
import {
  commitRemainingChanges,
  pushCommit,
  removeWorktree,
  saveSnapshot,
  switchBackArguments,
  reasonToKeepFolder,
} from './worktree.ts';

const maxSummaryChars = 4_000;

export const cutSummary = (text: string): string =>
  text.length <= maxSummaryChars ? text : `${text.slice(0, maxSummaryChars - 1)}…`;

/** Returns true if the branch has commits that the base does not have. */
const hasNewCommits = async ({ worktree, work }: ReadyRun, head: string): Promise<boolean> =>
  head !== work.baseSha && (await worktree.git(['rev-list', '--count', `${work.baseSha}..${head}`])) !== '0';

/**
 * Commits the remaining changes and pushes the branch. Returns a failed verdict if the work cannot be
 * submitted.
 */
async function commitAndPush(
  run: ReadyRun,
  summary: string,
): Promise<{ head: string; pullRequest?: OpenedPullRequest } | { failed: RunResult }> {
  const { session, work, worktree, author } = run;
  const message = `${work.key} ${work.title}\n\nMuster-Execution: ${work.executionId}`;
  const head = await commitRemainingChanges(worktree, { branch: work.branch, message, author });
  if (!(await hasNewCommits(run, head)))
    return {
      failed: {
        outcome: 'failed',
        failure: 'agent_error',
        summary: 'The agent ended without changing anything.',
      },
    };
  const { remote } = session.repository;
  if (remote === undefined) return { head };
  const trouble = await pushCommit(session.repository, head, `refs/heads/${work.branch}`, false);
  if (trouble === undefined) {
    session.say.reportStep(work.key, 'pushed', `pushed ${work.branch} to ${remote}`, {
      branch: work.branch,
      headSha: head,
    });
    const pullRequest = await openPullRequest(run, summary);
    return { head, ...(pullRequest !== undefined && { pullRequest }) };
  }
  return {
    failed: {
      ...{ outcome: 'failed', failure: 'infra' },
      summary: `The branch ${work.branch} could not be pushed; the commits exist only on the machine that made them. ${trouble}`,
    },
  };
}

/**
 * Reports the verdict to the API, skipping steps that are already done. Returns the verdict with which the
 * run really ended.
 */
export async function reportRunResult(run: ReadyRun, verdict: RunResult): Promise<RunResult> {
  const { lease, work, session } = run;
  switch (verdict.outcome) {
    case 'submitted': {
      const delivered = await commitAndPush(run, verdict.summary);
      if ('failed' in delivered) {
        await run.own.write({ verdict: delivered.failed });
        return reportRunResult(run, delivered.failed);
      }
      await writeCheckpoint(run);
      const { head: headSha, pullRequest } = delivered;
      await lease.update({ git: { branch: work.branch, baseBranch: work.base, headSha } });
      await attachEvidence(run, headSha);
      await lease.complete({
        ...{ outcome: 'submitted', summary: cutSummary(verdict.summary) },
        ...(pullRequest !== undefined && { pullRequest }),
      });
      const { outside = [] } = lease.touches() ?? {};
      if (outside.length > 0)
        session.say.warn(`${work.key} changed files outside of its touches: ${outside.join(', ')}`);
      return verdict;
    }
    case 'failed':
    case 'canceled': {
      await saveCheckpointOrWarn(run);
      const failure = verdict.outcome === 'failed' ? (verdict.failure ?? 'agent_error') : undefined;
      await lease.complete({
        ...{ outcome: verdict.outcome, summary: cutSummary(`${verdict.summary}\n\nIts files: ${work.ref}`) },
        ...(failure !== undefined && { failure: failure as NonNullable<Execution['failure']> }),
      });
      return verdict;
    }
    case 'handoff': {
      await saveCheckpointOrWarn(run);
      const { toMemberId, toAgentId } = verdict;
      const note = verdict.summary.slice(0, 2_000);
      const addressee =
        toMemberId !== undefined ? { toMemberId } : toAgentId !== undefined ? { toAgentId } : undefined;
      if (addressee === undefined) await lease.release(note);
      else {
        try {
          await lease.handoff({ ...addressee, note });
        } catch (error) {
          // The API rejects the recipient that the agent named, so the work is released instead.
          if (!(error instanceof MusterError) || ![400, 404, 422].includes(error.status)) throw error;
          session.say.warn(`${work.key} was not handed off: ${error.body.message}`);
          await lease.release(note);
          return { ...verdict, outcome: 'release' };
        }
      }
      return verdict;
    }
    case 'release': {
      await saveCheckpointOrWarn(run);
      await lease.release(verdict.summary.slice(0, 2_000));
      return verdict;
    }
    case 'lost':
    case 'ended': {
      await saveCheckpointOrWarn(run);
      session.say.reportStep(work.key, verdict.outcome, verdict.summary);
      return verdict;
    }
  }
}

/** Writes a checkpoint if the folder has unsaved files. A failure is only a warning. */
const saveCheckpointOrWarn = (run: ReadyRun): Promise<unknown> =>
  writeCheckpoint(run).catch((error: unknown) => {
    run.session.say.warn(`${run.work.key}: no checkpoint: ${(error as Error).message}`);
  });

const outcomeLabels: Readonly<Record<RunResult['outcome'], string>> = {
  submitted: 'submitted',
  failed: 'failed',
  canceled: 'stopped on request',
  handoff: 'handed off',
  release: 'released',
  lost: 'lost',
  ended: 'ended by the agent',
};

/** Closes a run: runs its last hook and frees what the run used of this machine. */
export async function closeRun(run: ReadyRun, verdict: RunResult): Promise<void> {
  const { own, session, work, config } = run;
  await own.write({ step: 'closing', verdict });
  const after = config.hooks.after_run;
  const trouble =
    after && (await runHook(run, 'after_run', after).catch((error: unknown) => (error as Error).message));
  if (trouble !== undefined) session.say.warn(`${work.key}: ${trouble}`);
  await removeOrKeepFolder(run, verdict);
}

type RunFolderContext = Pick<ReadyRun, 'session' | 'work' | 'worktree' | 'author' | 'own'>;

/** Removes the folder, or records in the journal why it stays. */
export async function removeOrKeepFolder(context: RunFolderContext, verdict: RunResult): Promise<void> {
  const { own, session, work } = context;
  const why = await removeFolderOrExplain(context, own.get(), verdict);
  releasePorts(work.portBase);
  const kept = why === undefined ? '' : ` (${shortestFolderPath(work.folder)} was kept: ${why})`;
  session.say.reportStep(
    work.key,
    'over',
    `${outcomeLabels[verdict.outcome]}: ${verdict.summary.split('\n')[0] ?? ''}${kept}`,
    {
      ...{ outcome: verdict.outcome, failure: verdict.failure ?? null, kept: why ?? null },
    },
  );
  if (why === undefined) await own.deleteEntry();
  else await own.write({ step: 'kept', verdict, note: why });
}

/**
 * Removes the folder of a run. Returns undefined if it was removed, else the reason why it stays, such as an
 * error of git.
 */
export const removeFolderOrExplain = (
  context: Omit<RunFolderContext, 'own'>,
  entry: Pick<JournalEntry, 'here' | 'cameFrom'>,
  verdict: Pick<RunResult, 'outcome'>,
): Promise<string | undefined> =>
  removeFolderIfSafe(context, entry, verdict).catch((error: unknown) => (error as Error).message);

async function removeFolderIfSafe(
  { session, work, worktree, author }: Omit<RunFolderContext, 'own'>,
  { here, cameFrom }: Pick<JournalEntry, 'here' | 'cameFrom'>,
  { outcome }: Pick<RunResult, 'outcome'>,
): Promise<string | undefined> {
  const { repository } = session;
  if (here) {
    const status = await worktree.git(['status', '--porcelain', '--ignore-submodules=dirty']);
    if (status !== '') return 'it has uncommitted files';
    if (cameFrom !== undefined) await worktree.git(switchBackArguments(cameFrom));
    return undefined;
  }
  if (outcome === 'failed' || outcome === 'lost') return 'it may be needed to find the cause';
  const why = await reasonToKeepFolder(repository, worktree, work, async () => {
    await saveSnapshot(worktree, { ref: work.ref, message: `Checkpoint of ${work.key}`, author });
  });
  if (why === undefined) await removeWorktree(repository, worktree, work);
  return why;
}
