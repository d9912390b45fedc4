/**
 * Checkpoints of a run: its files as a commit under a separate ref, pushed to the remote and reported to
 * Muster.
 */
import { isRefusal } from '@muster/client';
import { counted } from '@muster/terminal';
import { type ReadyRun } from './session.ts';
import { changedFiles, push, saveSnapshot } from './worktree.ts';

const mostFiles = 500;
const mostSummary = 2_000;

/**
 * Returns true if Muster accepts the file name. Other names are left out, so that one file does not cost the
 * whole checkpoint.
 */
export const canBeNamed = (file: string): boolean => file.length <= 512 && !/[\\\p{Cc}]|^[a-z]:/iu.test(file);

/**
 * The data that the runner stores with a checkpoint. `spoken` is true if the agent itself wrote the summary.
 */
interface RunnerData {
  readonly ref: string;
  readonly commit: string;
  readonly spoken: boolean;
}

/**
 * Returns the summary and next steps of the agent's own checkpoint, which the runner must not overwrite with
 * its own text.
 */
function wordsOf({ lease }: ReadyRun): { summary: string; nextSteps: string[] } | undefined {
  const { checkpoint } = lease.execution();
  const data = checkpoint?.data?.['runner'] as Partial<RunnerData> | undefined;
  if (checkpoint === null || (data !== undefined && data.spoken !== true)) return undefined;
  return { summary: checkpoint.summary, nextSteps: checkpoint.nextSteps };
}

const differing = (files: number, base: string): string =>
  `${counted(files, 'file')} ${files === 1 ? 'differs' : 'differ'} from ${base}`;

async function factsOf({ worktree, work }: ReadyRun, head: string, files: number): Promise<string> {
  const commits = Number(await worktree.git(['rev-list', '--count', `${work.baseSha}..${head}`]));
  const subject =
    commits === 0 ? '' : `; the last commit: ${await worktree.git(['show', '-s', '--format=%s', head])}`;
  return `${differing(files, work.base)}, ${counted(commits, 'commit')}${subject}`.slice(0, mostSummary);
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
  const trouble = await push(session.repository, commit, work.ref, true);
  if (trouble !== undefined && remote !== undefined)
    session.say.warn(`${work.key}: the checkpoint exists only on this machine: ${trouble}`);
  const files = await changedFiles(worktree.git, work.baseSha, commit);
  if (lease.isOver()) return true;
  const words = wordsOf(run);
  const data: RunnerData = { ref: work.ref, commit, spoken: words !== undefined };
  await lease
    .checkpoint({
      ...(words ?? { summary: await factsOf(run, head, files.length) }),
      filesTouched: files.filter(canBeNamed).slice(0, mostFiles),
      ...{ headSha: head, pushed: trouble === undefined, data: { runner: { ...data } } },
    })
    .catch((error: unknown) => {
      // The report was rejected because the lease is lost, or it failed. In both cases the files are saved.
      if (!isRefusal(error, 'stale_lease')) session.say.warn(`${work.key}: ${(error as Error).message}`);
    });
  session.say.tell(work.key, 'checkpoint', `checkpoint: ${differing(files.length, work.base)}`, {
    ...{ commit, ref: work.ref, pushed: trouble === undefined },
  });
  return true;
}
