import { w } from '../messages/story.ts';
import { useWriteOf, type Write } from './write.ts';

/** Returns a function that performs a write about work and then refetches that work. */
export const useWorkWrite = (storyKey: string | null): Write =>
  useWriteOf({
    about: [['work'], ...(storyKey === null ? [] : [['story', storyKey]])],
    failed: w.notDone,
  });
