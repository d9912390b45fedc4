import { type Story } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { useWriteOf } from '../components/write.ts';
import { w } from '../messages/story.ts';

interface Who {
  readonly memberId?: string | null;
  readonly agentId?: string | null;
}

/**
 * Returns a function that assigns the story to a member or an agent, or clears either. A field that is not
 * passed stays unchanged.
 */
export function useAssign({ id: targetId, key }: Pick<Story, 'id' | 'key'>): (who: Who) => Promise<boolean> {
  const { assignments } = useClient();
  const write = useWriteOf({ about: [['story', key]], failed: w.notDone });
  return (who) => write(() => assignments.set({ targetType: 'story', targetId, ...who }));
}
