import { type Story } from '@muster/contract';
import { useClient } from '../data/context.ts';
import { useWriteCall } from '../components/write.ts';
import { editTexts } from '../messages/story.ts';

interface AssigneeChange {
  readonly memberId?: string | null;
  readonly agentId?: string | null;
}

/**
 * Returns a function that assigns the story to a member or an agent, or clears either. A field that is not
 * passed stays unchanged.
 */
export function useAssign({
  id: targetId,
  key,
}: Pick<Story, 'id' | 'key'>): (who: AssigneeChange) => Promise<boolean> {
  const { assignments } = useClient();
  const write = useWriteCall({ queryKeys: [['story', key]], failureTitle: editTexts.notDone });
  return (who) => write(() => assignments.set({ targetType: 'story', targetId, ...who }));
}
