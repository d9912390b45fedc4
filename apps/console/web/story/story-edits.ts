/** Edits the story's own fields. */
import { useQueryClient } from '@tanstack/react-query';
import { type Client } from '@muster/client';
import { type InputOf, type Story } from '@muster/contract';
import { type Registry } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { type Edits, useEdits } from '../data/edits.ts';
import { importWithRetry } from '../components/lazily.ts';
import { showNotice, errorText } from '../components/notices.tsx';
import { offerUndo } from '../components/undo.ts';
import { t } from '../messages/index.ts';
import { editTexts } from '../messages/story.ts';

export type StoryEdits = Edits<Story>;
type StoryUpdate = InputOf<Registry['stories']['update']>;

/** Saves changed fields, and returns the story. The status has an operation of its own, which may return warnings. */
async function saveFields(
  { stories }: Client,
  { id: storyId, key }: Story,
  { status, ...fields }: Partial<Story>,
  expectedVersion: number,
): Promise<Story> {
  if (status === undefined)
    return (await stories.update({ storyId, ...(fields as Partial<StoryUpdate>), expectedVersion })).story;
  const { story, warnings } = await stories.updateStatus({ storyId, status, expectedVersion });
  const [warning] = warnings;
  if (warning !== undefined) showNotice({ tone: 'warn', title: t.move.warned(key), body: warning.message });
  return story;
}

export function useStoryEdits(story: Story): StoryEdits {
  const client = useClient();
  const queries = useQueryClient();
  const { id: storyId, key } = story;
  const refetchAll = () => queries.invalidateQueries({ queryKey: ['story', key] });
  return useEdits(story, {
    fetchRecord: async () => (await client.stories.get({ storyId })).story,
    sendPatch: async (patch, expectedVersion, base) => {
      const saved = await saveFields(client, story, patch, expectedVersion);
      if (saved.version === expectedVersion) return;
      const former = Object.fromEntries(
        Object.keys(patch).map((field) => [field, base[field as keyof Story]]),
      );
      offerUndo({
        ...{ key, title: t.undo.edited(key) },
        undo: async () => {
          await saveFields(client, story, former, saved.version);
          await refetchAll();
          return undefined;
        },
      });
    },
    mergeConflict: async ({ description, ...others }, base, theirs) => {
      if (description == null || Object.keys(others).length > 0) return undefined;
      const { mergeTexts } = await importWithRetry(() => import('../editor/merge-texts.ts'));
      const merged = mergeTexts(base.description ?? '', description, theirs.description ?? '');
      return merged === undefined ? undefined : { description: merged };
    },
    refetchAll,
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
