/** Edits the story's own fields. */
import { useQueryClient } from '@tanstack/react-query';
import { type Client } from '@muster/client';
import { type InputOf, type Registry, type Story } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { type Edits, useEdits } from '../data/edits.ts';
import { showNotice, errorText } from '../components/notices.tsx';
import { t } from '../messages/index.ts';
import { editTexts } from '../messages/story.ts';

export type StoryEdits = Edits<Story>;
type StoryUpdate = InputOf<Registry['stories']['update']>;

/** Saves changed fields. The status has an operation of its own, which may return warnings. */
async function saveFields(
  { stories }: Client,
  { id: storyId, key }: Story,
  { status, ...fields }: Partial<Story>,
  expectedVersion: number,
): Promise<void> {
  if (status === undefined) {
    await stories.update({ storyId, ...(fields as Partial<StoryUpdate>), expectedVersion });
    return;
  }
  const { warnings } = await stories.updateStatus({ storyId, status, expectedVersion });
  const [warning] = warnings;
  if (warning !== undefined) showNotice({ tone: 'warn', title: t.move.warned(key), body: warning.message });
}

export function useStoryEdits(story: Story): StoryEdits {
  const client = useClient();
  const queries = useQueryClient();
  const { id: storyId, key } = story;
  return useEdits(story, {
    fetchRecord: async () => (await client.stories.get({ storyId })).story,
    sendPatch: (patch, expectedVersion) => saveFields(client, story, patch, expectedVersion),
    refetchAll: () => queries.invalidateQueries({ queryKey: ['story', key] }),
    onFailure: (error) =>
      showNotice({ tone: 'bad', title: editTexts.notSavedOf(key), body: errorText(error) }),
    onUnseenConflict: ({ mine }, saveMine) => {
      const title = editTexts.changedMeanwhile(key);
      showNotice({
        ...{ tone: 'warn', title, body: mine.title ?? mine.description ?? editTexts.yoursIsNotSaved },
        actions: [
          { name: t.move.keepTheirs, run: () => undefined, isMain: true },
          { name: t.met.saveMine, run: saveMine },
        ],
      });
    },
  });
}
