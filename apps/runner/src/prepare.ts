/** Prepares a folder for the work on an acquired story. */
import { cp, mkdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { type HeldLease } from '@muster/client';
import { shortestFolderPath } from '@muster/terminal';
import { buildBranchName, type WorkConfig, type Hook, portRangeOf } from './config.ts';
import { environmentFor } from './environment.ts';
import { GitError } from './git.ts';
import { startProcessGroup } from './group.ts';
import { type OwnedEntry, type StoryWork } from './journal.ts';
import { allocatePorts } from './ports.ts';
import {
  type BaseCommit,
  commitOf,
  findCheckpoint,
  listIncludedFiles,
  worktreesFolderOf,
} from './repository.ts';
import { type ReadyRun, type StoryRun, type RunnerSession, MachineSetupError } from './session.ts';
import { addWorktree, openWorktree, restoreFiles, type Worktree, worktreeAt } from './worktree.ts';

const fileExists = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  );

/** Finds the commit at which the work begins: what an earlier holder left, else the base. */
async function findStartCommit(
  { repository, say }: RunnerSession,
  lease: HeldLease,
  base: BaseCommit,
): Promise<Pick<StoryWork, 'startSha' | 'restoreSha'>> {
  const { git, remote } = repository;
  const execution = lease.execution();
  const epoch = execution.lease?.epoch ?? 0;
  const checkpoint = await findCheckpoint(repository, execution.id, epoch, say.warn);
  if (checkpoint !== undefined)
    return { startSha: await git(['rev-parse', `${checkpoint.sha}^1`]), restoreSha: checkpoint.sha };
  const branch = execution.git?.branch;
  if (!lease.resumed || branch === null || branch === undefined) return { startSha: base.sha };
  // An earlier holder that used another tool reported the branch of its work.
  if (remote !== undefined) {
    const place = `refs/muster-remote/${execution.id}/branch`;
    const { code } = await git.ask(
      ['fetch', '--quiet', '--no-tags', '--no-recurse-submodules', remote, `+refs/heads/${branch}:${place}`],
      {
        allowedExitCodes: [0, 1, 128],
      },
    );
    const fetched = code === 0 ? await commitOf(git, place) : undefined;
    if (fetched !== undefined) return { startSha: fetched };
  }
  const local = await commitOf(git, `refs/heads/${branch}`);
  if (local === undefined)
    say.warn(`the branch ${branch} of the earlier work was not found, so the work starts again`);
  return { startSha: local ?? base.sha };
}

/** Returns the path of a folder with that name that does not exist yet. */
async function findUnusedFolder(parentFolder: string, name: string): Promise<string> {
  for (let count = 1; ; count += 1) {
    const folder = path.join(parentFolder, count === 1 ? name : `${name}-${count}`);
    if (!(await fileExists(folder))) return folder;
  }
}

async function planStoryWork(
  session: RunnerSession,
  {
    journalEntry: own,
    lease,
    config,
    base,
  }: { journalEntry: OwnedEntry; lease: HeldLease; config: WorkConfig; base: BaseCommit },
  story: { readonly id: string; readonly key: string; readonly title: string },
): Promise<StoryWork> {
  const { repository } = session;
  const execution = lease.execution();
  const epoch = execution.lease?.epoch ?? 0;
  const branch = buildBranchName(config.branch, story.key, epoch, story.title);
  const home = worktreesFolderOf(repository, session.worktreesFolder ?? config.worktrees);
  let folder = repository.checkoutFolder;
  if (!own.get().here) {
    await mkdir(home, { recursive: true });
    folder = await findUnusedFolder(
      await realpath(home),
      branch.replaceAll('/', '-').replace(/^muster-/, ''),
    );
  }
  const ports = portRangeOf(config);
  return {
    ...{ executionId: execution.id, storyId: story.id, key: story.key, title: story.title },
    ...{ projectId: execution.projectId, epoch, attempt: execution.attempt },
    ...{ base: base.name, baseSha: base.sha, ...(await findStartCommit(session, lease, base)) },
    ...{ branch, folder, ref: `refs/muster/${execution.id}/${epoch}` },
    preparedAt: new Date().toISOString(),
    ...(ports !== undefined && { portBase: await allocatePorts(ports, repository.commonDir) }),
  };
}

async function switchCheckout({ session, own }: StoryRun, work: StoryWork): Promise<Worktree> {
  const { git, checkoutFolder } = session.repository;
  const isThere = (await commitOf(git, `refs/heads/${work.branch}`)) !== undefined;
  if (own.get().cameFrom === undefined) {
    const cameFrom = (
      await git.ask(['symbolic-ref', '--short', '--quiet', 'HEAD'], { allowedExitCodes: [0, 1] })
    ).stdout.trim();
    await own.write({ cameFrom: cameFrom || (await git(['rev-parse', 'HEAD'])) });
  }
  await git([
    'switch',
    '--quiet',
    ...(isThere ? [work.branch] : ['--no-track', '-c', work.branch, work.startSha]),
  ]);
  return openWorktree(checkoutFolder);
}

/** Runs a hook of the repository and passes its output on. Returns undefined on success, else the problem. */
export async function runHook(run: ReadyRun, name: string, hook: Hook): Promise<string | undefined> {
  const { own, session, work, worktree } = run;
  session.say.reportStep(work.key, 'hook', `${name} …`, { hook: name });
  const group = await startProcessGroup({
    ...{ runId: own.get().runId, command: hook.run, folder: worktree.folder },
    ...{ env: environmentFor(run), logFile: path.join(own.folder, 'hooks.log'), input: '' },
    onLine: (line, stream) => {
      session.say.printOutputLine(work.key, line);
      run.log.addLine(line, stream);
    },
  });
  const late = new AbortController();
  const timer = setTimeout(() => {
    late.abort();
    void group.stop(5_000);
  }, hook.within);
  const leave = (): void => void group.stop(5_000);
  for (const signal of [session.stopSignal, run.lease.lost, run.signals.stopRequested]) {
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
  }
  const { code, signal } = await group.exited.finally(() => {
    clearTimeout(timer);
  });
  for (const one of [session.stopSignal, run.lease.lost, run.signals.stopRequested])
    one.removeEventListener('abort', leave);
  await group.stop(1_000);
  if (late.signal.aborted) return `${name} took longer than ${Math.round(hook.within / 1000)} s`;
  return code === 0 ? undefined : `${name} ended with ${code ?? signal ?? 'nothing'}\n${group.lastLines()}`;
}

async function copyIncludedFiles({ session }: StoryRun, work: StoryWork, worktree: Worktree): Promise<void> {
  if (worktree.folder === session.repository.checkoutFolder) return;
  for (const name of await listIncludedFiles(session.repository, { name: work.base, sha: work.baseSha })) {
    const target = path.join(worktree.folder, name);
    await mkdir(path.dirname(target), { recursive: true });
    await cp(path.join(session.repository.checkoutFolder, name), target, {
      recursive: true,
      verbatimSymlinks: true,
    });
  }
}

/** Creates the folder, or continues in the existing one. Throws MachineSetupError if the machine is at fault. */
export async function prepareRun(
  run: StoryRun,
  base: BaseCommit,
  story: { readonly id: string; readonly key: string; readonly title: string },
): Promise<ReadyRun> {
  const { session, own, lease, config } = run;
  const before = own.get();
  if (before.work?.gitDir !== undefined && before.step !== 'taken') {
    const { work } = before;
    return { ...run, work, worktree: worktreeAt(work.folder, before.work.gitDir) };
  }
  try {
    const planned =
      before.work ?? (await planStoryWork(session, { journalEntry: own, lease, config, base }, story));
    await own.recordNextStep({ step: 'taken', work: planned });
    const worktree = before.here
      ? await switchCheckout(run, planned)
      : await addWorktree(session.repository, planned);
    const work = { ...planned, gitDir: worktree.gitDir };
    const ready: ReadyRun = { ...run, work, worktree };
    if (work.restoreSha !== undefined) await restoreFiles(worktree, work.restoreSha);
    await copyIncludedFiles(run, work, worktree);
    session.say.reportStep(
      work.key,
      'prepared',
      `works on ${work.branch}, in ${shortestFolderPath(work.folder)}`,
      {
        folder: work.folder,
        branch: work.branch,
      },
    );
    const hook = config.hooks.after_create;
    const trouble = hook && (await runHook(ready, 'after_create', hook));
    if (trouble !== undefined) throw new MachineSetupError(trouble);
    await own.write({ step: 'prepared', work });
    return ready;
  } catch (error) {
    if (error instanceof GitError) throw new MachineSetupError(error.message);
    throw error;
  }
}
