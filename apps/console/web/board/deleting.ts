/** Deletes several stories, and restores them if the reader wants them back. */
import { type Client } from '@muster/client';
import { type StoryCard } from '@muster/contract';
import { type Board } from '../data/boards.ts';
import { errorText, showNotice } from '../components/notices.tsx';
import { offerUndo } from '../components/undo.ts';
import { selectionTexts } from '../messages/selection.ts';
import { type RefusedUndo, undoFailureOf } from './each.ts';

/** Deletes the stories one after the other. Stories that could not be deleted stay selected and are named. */
export async function deleteStories(
  client: Client,
  board: Board,
  stories: readonly StoryCard[],
  selectCards: (ids: ReadonlySet<string>) => void,
): Promise<void> {
  const deleted: StoryCard[] = [];
  const refused: StoryCard[] = [];
  let reason: unknown;
  for (const story of stories)
    try {
      await client.stories.delete({ storyId: story.id });
      deleted.push(story);
    } catch (error) {
      refused.push(story);
      reason = error;
    }
  board.refreshCards(deleted.map(({ id }) => id));
  selectCards(new Set(refused.map(({ id }) => id)));
  if (refused.length > 0)
    showNotice({
      ...{ tone: 'bad', title: selectionTexts.notDeleted(refused.map(({ key }) => key).join(', ')) },
      body: errorText(reason),
    });
  if (deleted.length === 0) return;
  offerUndo({
    ...{ key: selectionTexts.stories(deleted.length), title: selectionTexts.deleted(deleted.length) },
    undo: async () => {
      const refused: RefusedUndo[] = [];
      for (const { id: storyId, key } of deleted.toReversed())
        await client.stories.restore({ storyId }).catch((error: unknown) => refused.push({ key, error }));
      board.refreshCards(deleted.map(({ id }) => id));
      return undoFailureOf(deleted.length, { conflicts: 0, refused });
    },
  });
}
