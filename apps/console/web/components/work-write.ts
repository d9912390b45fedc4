import { editTexts } from '../messages/story.ts';
import { useWriteCall, type WriteCall } from './write.ts';

/** Returns a function that performs a write about work and then refetches that work. */
export const useWorkWrite = (storyKey: string | null): WriteCall =>
  useWriteCall({
    about: [['work'], ...(storyKey === null ? [] : [['story', storyKey]])],
    failed: editTexts.notDone,
  });
