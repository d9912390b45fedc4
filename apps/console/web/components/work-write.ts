import { w } from '../messages/story.ts';
import { useWriteOf, type Write } from './write.ts';

/** A write about work, after which whatever shows that work is read anew. */
export const useWorkWrite = (storyKey: string | null): Write =>
  useWriteOf({
    about: [['work'], ...(storyKey === null ? [] : [['story', storyKey]])],
    failed: w.notDone,
  });
