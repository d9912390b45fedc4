/** Prepares a folder for the work on an acquired story. */
import { cp, mkdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { type HeldLease } from '@muster/client';
import { shortFolder } from '@muster/terminal';
import { branchName, type WorkConfig, type Hook, portsOf } from './config.ts';
import { environmentFor } from './environment.ts';
import { GitError } from './git.ts';
import { startGroup } from './group.ts';
import { type OwnEntry, type StoryWork } from './journal.ts';
import { freePorts } from './ports.ts';
import { type Base, commitOf, findCheckpoint, includedFiles, worktreesOf } from './repository.ts';
import { type ReadyRun, type StoryRun, type RunnerSession, SetUpFailed } from './session.ts';
import { addWorktree, openWorktree, restoreFiles, type Worktree, worktreeAt } from './worktree.ts';

const exists = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  );

/** Finds the commit at which the work begins: what an earlier holder left, else the base. */
async function startOf(
  { repository, say }: RunnerSession,
  lease: HeldLease,
  base: Base,
): Promise<Pick<StoryWork, 'startSha' | 'restoreSha'>> {
  const { git, remote } = repository;
  const execution = lease.execution();
  const epoch = execution.lease?.epoch ?? 0;
  const checkpoint = await findCheckpoint(repository, execution.id, epoch, say.warn);
  if (checkpoint !== undefined) {
    return { startSha: await git(['rev-parse', `${checkpoint.sha}^1`]), restoreSha: checkpoint.sha };
  }
  const branch = execution.git?.branch;
  if (!lease.resumed || branch === null || branch === undefined) return { startSha: base.sha };
  // An earlier holder that used another tool reported the branch of its work.
  if (remote !== undefined) {
    const place = `refs/muster-remote/${execution.id}/branch`;
    const { code } = await git.ask(
      ['fetch', '--quiet', '--no-tags', '--no-recurse-submodules', remote, `+refs/heads/${branch}:${place}`],
      {
        answers: [0, 1, 128],
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
async function freeFolder(home: string, name: string): Promise<string> {
  for (let count = 1; ; count += 1) {
    const folder = path.join(home, count === 1 ? name : `${name}-${count}`);
    if (!(await exists(folder))) return folder;
  }
}

async function plan(
  session: RunnerSession,
  { own, lease, config, base }: { own: OwnEntry; lease: HeldLease; config: WorkConfig; base: Base },
  story: { readonly id: string; readonly key: string; readonly title: string },
): Promise<StoryWork> {
  const { repository } = session;
  const execution = lease.execution();
  const epoch = execution.lease?.epoch ?? 0;
  const branch = branchName(config.branch, story.key, epoch, story.title);
  const home = worktreesOf(repository, session.worktrees ?? config.worktrees);
  let folder = repository.top;
  if (!own.get().here) {
    await mkdir(home, { recursive: true });
    folder = await freeFolder(await realpath(home), branch.replaceAll('/', '-').replace(/^muster-/, ''));
  }
  const ports = portsOf(config);
  return {
    ...{ executionId: execution.id, storyId: story.id, key: story.key, title: story.title },
    ...{ projectId: execution.projectId, epoch, attempt: execution.attempt },
    ...{ base: base.name, baseSha: base.sha, ...(await startOf(session, lease, base)) },
    ...{ branch, folder, ref: `refs/muster/${execution.id}/${epoch}` },
    ...(ports !== undefined && { portBase: await freePorts(ports, repository.commonDir) }),
  };
}

async function openHere({ session, own }: StoryRun, work: StoryWork): Promise<Worktree> {
  const { git, top } = session.repository;
  const isThere = (await commitOf(git, `refs/heads/${work.branch}`)) !== undefined;
  if (own.get().cameFrom === undefined) {
    const cameFrom = (
      await git.ask(['symbolic-ref', '--short', '--quiet', 'HEAD'], { answers: [0, 1] })
    ).out.trim();
    await own.write({ cameFrom: cameFrom || (await git(['rev-parse', 'HEAD'])) });
  }
  await git([
    'switch',
    '--quiet',
    ...(isThere ? [work.branch] : ['--no-track', '-c', work.branch, work.startSha]),
  ]);
  return openWorktree(top);
}

/** Runs a hook of the repository and passes its output on. Returns undefined on success, else the problem. */
export async function runHook(run: ReadyRun, name: string, hook: Hook): Promise<string | undefined> {
  const { own, session, work, worktree } = run;
  session.say.tell(work.key, 'hook', `${name} …`, { hook: name });
  const group = await startGroup({
    ...{ runId: own.get().runId, command: hook.run, folder: worktree.folder },
    ...{ env: environmentFor(run), log: path.join(own.folder, 'hooks.log'), input: '' },
    onLine: (line) => {
      session.say.pass(work.key, line);
    },
  });
  const late = new AbortController();
  const timer = setTimeout(() => {
    late.abort();
    void group.stop(5_000);
  }, hook.within);
  const leave = (): void => void group.stop(5_000);
  for (const signal of [session.leaving, run.lease.lost, run.signals.stopRequested]) {
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
  }
  const { code, signal } = await group.exited.finally(() => {
    clearTimeout(timer);
  });
  for (const one of [session.leaving, run.lease.lost, run.signals.stopRequested])
    one.removeEventListener('abort', leave);
  await group.stop(1_000);
  if (late.signal.aborted) return `${name} took longer than ${Math.round(hook.within / 1000)} s`;
  return code === 0 ? undefined : `${name} ended with ${code ?? signal ?? 'nothing'}\n${group.tail()}`;
}

async function copyIncluded({ session }: StoryRun, work: StoryWork, worktree: Worktree): Promise<void> {
  if (worktree.folder === session.repository.top) return;
  for (const name of await includedFiles(session.repository, { name: work.base, sha: work.baseSha })) {
    const target = path.join(worktree.folder, name);
    await mkdir(path.dirname(target), { recursive: true });
    await cp(path.join(session.repository.top, name), target, { recursive: true, verbatimSymlinks: true });
  }
}

/** Creates the folder, or continues in the existing one. Throws SetUpFailed if the machine is at fault. */
export async function prepare(
  run: StoryRun,
  base: Base,
  story: { readonly id: string; readonly key: string; readonly title: string },
): Promise<ReadyRun> {
  const { session, own, lease, config } = run;
  const before = own.get();
  if (before.work?.gitDir !== undefined && before.step !== 'taken') {
    const { work } = before;
    return { ...run, work, worktree: worktreeAt(work.folder, before.work.gitDir) };
  }
  try {
    const planned = before.work ?? (await plan(session, { own, lease, config, base }, story));
    await own.intend({ step: 'taken', work: planned });
    const worktree = before.here
      ? await openHere(run, planned)
      : await addWorktree(session.repository, planned);
    const work = { ...planned, gitDir: worktree.gitDir };
    const ready: ReadyRun = { ...run, work, worktree };
    if (work.restoreSha !== undefined) await restoreFiles(worktree, work.restoreSha);
    await copyIncluded(run, work, worktree);
    session.say.tell(work.key, 'prepared', `works on ${work.branch}, in ${shortFolder(work.folder)}`, {
      folder: work.folder,
      branch: work.branch,
    });
    const hook = config.hooks.after_create;
    const trouble = hook && (await runHook(ready, 'after_create', hook));
    if (trouble !== undefined) throw new SetUpFailed(trouble);
    await own.write({ step: 'prepared', work });
    return ready;
  } catch (error) {
    if (error instanceof GitError) throw new SetUpFailed(error.message);
    throw error;
  }
}
