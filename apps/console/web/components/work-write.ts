import { editTexts } from '../messages/story.ts';
import { useWriteCall, type WriteCall } from './write.ts';

/** Returns a function that performs a write about work and then refetches that work. */
export const useWorkWrite = (storyKey: string | null): WriteCall =>
  useWriteCall({
    queryKeys: [['work'], ...(storyKey === null ? [] : [['story', storyKey]])],
    failureTitle: editTexts.notDone,
  });
