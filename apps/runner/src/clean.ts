/** The command `muster work --clean`: removes the leftovers of finished runs. */
import { isUuid } from '@muster/registry';
import { shortFolder } from '@muster/terminal';
import { giveBack } from './finish.ts';
import { openJournal } from './journal.ts';
import { type RunnerSession } from './session.ts';
import { gone } from './take.ts';
import { authorOf, worktreeAt } from './worktree.ts';

/** Removes folders whose work is at the remote, and reports the reason why each other folder stays. */
export async function clean(session: RunnerSession): Promise<void> {
  const { repository, say } = session;
  const journal = openJournal(repository.commonDir);
  const left = (await journal.list()).filter(({ isRunning }) => !isRunning);
  for (const { entry } of left.filter(({ entry: { step } }) => step !== 'kept')) {
    say.tell(
      entry.work?.key ?? entry.project,
      'left',
      'its runner died; muster work --adopt continues the run',
      {
        runId: entry.runId,
      },
    );
  }
  for (const own of await journal.adopt(({ step }) => step === 'kept')) {
    const { work, agentName } = own.get();
    if (work?.gitDir === undefined) {
      await own.drop();
      continue;
    }
    const worktree = worktreeAt(work.folder, work.gitDir);
    const author = await authorOf(repository, agentName);
    // Treat every run as ended well, even a failed one: the person who cleans up has already looked at
    // failures.
    const why = await giveBack({ session, work, worktree, author }, own.get(), { outcome: 'ended' });
    const folder = shortFolder(work.folder);
    say.tell(
      work.key,
      'cleaned',
      why === undefined ? `${folder} was removed` : `${folder} was kept: ${why}`,
      {
        ...{ folder: work.folder, kept: why ?? null },
      },
    );
    if (why === undefined) await own.drop();
  }
  if (left.length === 0) say.tell('–', 'cleaned', 'No run folders are left.');
  await deleteLanded(session);
}

/**
 * Deletes the checkpoints of completed work, locally and at the remote. The branch of the work has all its
 * changes, and no agent continues from a checkpoint.
 */
async function deleteLanded({ repository, caller, say }: RunnerSession): Promise<void> {
  const { git, remote } = repository;
  if (remote === undefined) return;
  const listed = await git(['ls-remote', remote, 'refs/muster/*']);
  const refs = listed.split('\n').flatMap((line) => line.split('\t')[1] ?? []);
  for (const executionId of new Set(refs.map(executionIn))) {
    if (!isUuid(executionId)) continue;
    const checkpoints = refs.filter((ref) => executionIn(ref) === executionId);
    const found = await caller.deliveryExecutions.get({ executionId }).catch(gone);
    if (found?.execution.outcome !== 'succeeded') continue;
    await git(['push', '--quiet', '--no-verify', remote, '--delete', ...checkpoints]);
    const own = await git([
      ...['for-each-ref', '--format=%(refname)', `refs/muster/${executionId}`],
      `refs/muster-remote/${executionId}`,
    ]);
    for (const ref of own.split('\n').filter((line) => line !== '')) await git(['update-ref', '-d', ref]);
    say.tell('–', 'cleaned', `deleted the checkpoints of completed work: ${checkpoints.join(', ')}`, {
      executionId,
      refs: checkpoints,
    });
  }
}

const executionIn = (ref: string): string => ref.split('/')[2] ?? '';
