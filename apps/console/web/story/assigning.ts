import { type QueryClient } from '@tanstack/react-query';
import { type Client } from '@muster/client';
import { type Story } from '@muster/registry';
import { notify, reasonFor } from '../parts/notices.tsx';
import { w } from '../texts/story.ts';

/** To a person or an agent, or to none; what is not named stays. */
export async function assignStory(
  client: Client,
  queries: QueryClient,
  { id: storyId, key }: Pick<Story, 'id' | 'key'>,
  who: { readonly memberId?: string | null; readonly agentId?: string | null },
): Promise<void> {
  try {
    await client.assignments.set({ targetType: 'story', targetId: storyId, ...who });
  } catch (error) {
    notify({ tone: 'bad', title: w.notDone, body: reasonFor(error) });
  }
  await queries.invalidateQueries({ queryKey: ['story', key] });
}
