/** The command `muster work --clean`: removes the leftovers of finished runs. */
import { isUuid } from '@muster/contract';
import { shortestFolderPath } from '@muster/terminal';
import { removeFolderOrExplain } from './finish.ts';
import { openJournal } from './journal.ts';
import { type RunnerSession } from './session.ts';
import { ignoreNotFound } from './take.ts';
import { readAuthor, worktreeAt } from './worktree.ts';

/** Removes folders whose work is at the remote, and reports the reason why each other folder stays. */
export async function cleanRunFolders(session: RunnerSession): Promise<void> {
  const { repository, say } = session;
  const journal = openJournal(repository.commonDir);
  const left = (await journal.listEntries()).filter(({ isRunning }) => !isRunning);
  for (const { entry } of left.filter(({ entry: { step } }) => step !== 'kept'))
    say.reportStep(
      entry.work?.key ?? entry.project,
      'left',
      entry.work === undefined
        ? 'its runner died before the run began; muster work --adopt continues or discards it'
        : 'its runner died; muster work --adopt continues the run',
      {
        runId: entry.runId,
      },
    );
  for (const own of await journal.adoptEntries(({ step }) => step === 'kept')) {
    const { work, agentName } = own.get();
    if (work?.gitDir === undefined) {
      await own.deleteEntry();
      continue;
    }
    const worktree = worktreeAt(work.folder, work.gitDir);
    const author = await readAuthor(repository, agentName);
    // Treat every run as ended well, even a failed one: the person who cleans up has already looked at
    // failures.
    const why = await removeFolderOrExplain({ session, work, worktree, author }, own.get(), {
      outcome: 'ended',
    });
    const folder = shortestFolderPath(work.folder);
    say.reportStep(
      work.key,
      'cleaned',
      why === undefined ? `${folder} was removed` : `${folder} was kept: ${why}`,
      {
        ...{ folder: work.folder, kept: why ?? null },
      },
    );
    if (why === undefined) await own.deleteEntry();
  }
  if (left.length === 0) say.reportStep('–', 'cleaned', 'No run folders are left.');
  await deleteCompletedCheckpoints(session);
}

/**
 * Deletes the checkpoints of completed work, locally and at the remote. The branch of the work has all its
 * changes, and no agent continues from a checkpoint.
 */
async function deleteCompletedCheckpoints({ repository, callerClient, say }: RunnerSession): Promise<void> {
  const { git, remote } = repository;
  if (remote === undefined) return;
  const listed = await git(['ls-remote', remote, 'refs/muster/*']);
  const refs = listed.split('\n').flatMap((line) => line.split('\t')[1] ?? []);
  for (const executionId of new Set(refs.map(executionIdOf))) {
    if (!isUuid(executionId)) continue;
    const checkpoints = refs.filter((ref) => executionIdOf(ref) === executionId);
    const found = await callerClient.deliveryExecutions.get({ executionId }).catch(ignoreNotFound);
    if (found?.execution.outcome !== 'succeeded') continue;
    await git(['push', '--quiet', '--no-verify', remote, '--delete', ...checkpoints]);
    const own = await git([
      ...['for-each-ref', '--format=%(refname)', `refs/muster/${executionId}`],
      `refs/muster-remote/${executionId}`,
    ]);
    for (const ref of own.split('\n').filter((line) => line !== '')) await git(['update-ref', '-d', ref]);
    say.reportStep('–', 'cleaned', `deleted the checkpoints of completed work: ${checkpoints.join(', ')}`, {
      executionId,
      refs: checkpoints,
    });
  }
}

const executionIdOf = (ref: string): string => ref.split('/')[2] ?? '';
