/** muster work --clean: what runs left that are over. */
import { shortFolder } from '../output/lines.ts';
import { giveBack } from './finish.ts';
import { openJournal } from './journal.ts';
import { type Session } from './session.ts';
import { authorOf, worktreeAt } from './worktree.ts';

/** Gives back what the remote has, and says of the rest why it stays. */
export async function clean(session: Session): Promise<void> {
  const { repository, say } = session;
  const journal = openJournal(repository.commonDir);
  const left = (await journal.list()).filter(({ isRunning }) => !isRunning);
  for (const { entry } of left.filter(({ entry: { step } }) => step !== 'kept')) {
    say.tell(
      entry.work?.key ?? entry.project,
      'left',
      'its runner died: muster work --adopt goes on with it',
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
    // The person who asks has looked at what failed.
    const why = await giveBack({ session, work, worktree, author }, own.get(), { outcome: 'ended' }).catch(
      (error: unknown) => (error as Error).message,
    );
    const folder = shortFolder(work.folder);
    say.tell(work.key, 'cleaned', why === undefined ? `${folder} is given back` : `${folder} stays: ${why}`, {
      ...{ folder: work.folder, kept: why ?? null },
    });
    if (why === undefined) await own.drop();
  }
  if (left.length === 0) say.tell('–', 'cleaned', 'Nothing is left.');
}
