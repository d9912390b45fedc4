/**
 * Checkpoints of a run: its files as a commit under a separate ref, pushed to the remote and reported to
 * Muster.
 */
import { isRefusal } from '@muster/client';
import { countWithNoun } from '@muster/terminal';
import { type ReadyRun } from './session.ts';
import { changedFiles, pushCommit, saveSnapshot } from './worktree.ts';

const maxReportedFiles = 500;
const maxSummaryChars = 2_000;

/**
 * Returns true if Muster accepts the file name. Other names are left out, so that one file does not cost the
 * whole checkpoint.
 */
export const isAcceptedFileName = (file: string): boolean =>
  file.length <= 512 && !/[\\\p{Cc}]|^[a-z]:/iu.test(file);

/**
 * The data that the runner stores with a checkpoint. `spoken` is true if the agent itself wrote the summary.
 */
interface RunnerCheckpointData {
  readonly ref: string;
  readonly commit: string;
  readonly spoken: boolean;
}

/**
 * Returns the summary and next steps of the agent's own checkpoint, which the runner must not overwrite with
 * its own text.
 */
function agentCheckpointText({ lease }: ReadyRun): { summary: string; nextSteps: string[] } | undefined {
  const { checkpoint } = lease.execution();
  const data = checkpoint?.data?.['runner'] as Partial<RunnerCheckpointData> | undefined;
  if (checkpoint === null || (data !== undefined && data.spoken !== true)) return undefined;
  return { summary: checkpoint.summary, nextSteps: checkpoint.nextSteps };
}

const describeDifference = (fileCount: number, base: string): string =>
  `${countWithNoun(fileCount, 'file')} ${fileCount === 1 ? 'differs' : 'differ'} from ${base}`;

async function describeChanges(
  { worktree, work }: ReadyRun,
  head: string,
  fileCount: number,
): Promise<string> {
  const commits = Number(await worktree.git(['rev-list', '--count', `${work.baseSha}..${head}`]));
  const subject =
    commits === 0 ? '' : `; the last commit: ${await worktree.git(['show', '-s', '--format=%s', head])}`;
  return `${describeDifference(fileCount, work.base)}, ${countWithNoun(commits, 'commit')}${subject}`.slice(
    0,
    maxSummaryChars,
  );
}

/**
 * Saves the files locally and at the remote, and reports the checkpoint while the lease is held. Returns true
 * if something was new since the last checkpoint.
 */
export async function writeCheckpoint(run: ReadyRun): Promise<boolean> {
  const { session, work, worktree, author, lease } = run;
  const message = `Checkpoint of ${work.key}\n\nMuster-Execution: ${work.executionId}`;
  const saved = await saveSnapshot(worktree, { ref: work.ref, message, author });
  if (saved === undefined) return false;
  const { commit, head } = saved;
  const { remote } = session.repository;
  const trouble = await pushCommit(session.repository, commit, work.ref, true);
  if (trouble !== undefined && remote !== undefined)
    session.say.warn(`${work.key}: the checkpoint exists only on this machine: ${trouble}`);
  const files = await changedFiles(worktree.git, work.baseSha, commit);
  if (lease.isOver()) return true;
  const words = agentCheckpointText(run);
  const data: RunnerCheckpointData = { ref: work.ref, commit, spoken: words !== undefined };
  await lease
    .checkpoint({
      ...(words ?? { summary: await describeChanges(run, head, files.length) }),
      filesTouched: files.filter(isAcceptedFileName).slice(0, maxReportedFiles),
      ...{ headSha: head, pushed: trouble === undefined, data: { runner: { ...data } } },
    })
    .catch((error: unknown) => {
      // The report was rejected because the lease is lost, or it failed. In both cases the files are saved.
      if (!isRefusal(error, 'stale_lease')) session.say.warn(`${work.key}: ${(error as Error).message}`);
    });
  session.say.reportStep(
    work.key,
    'checkpoint',
    `checkpoint: ${describeDifference(files.length, work.base)}`,
    {
      ...{ commit, ref: work.ref, pushed: trouble === undefined },
    },
  );
  return true;
}
