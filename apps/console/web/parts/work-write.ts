import { useQueryClient } from '@tanstack/react-query';
import { w } from '../texts/story.ts';
import { notify, reasonFor } from './notices.tsx';

/** True where it was done; else the reason was said. */
export type WorkWrite = (work: () => Promise<unknown>, done: string) => Promise<boolean>;

/** A write about work, after which whatever shows that work is read anew. */
export function useWorkWrite(storyKey: string | null): WorkWrite {
  const queries = useQueryClient();
  return async (work, done) => {
    let isDone = false;
    try {
      await work();
      notify({ tone: 'good', title: done });
      isDone = true;
    } catch (error) {
      notify({ tone: 'bad', title: w.notDone, body: reasonFor(error) });
    }
    await Promise.all([
      queries.invalidateQueries({ queryKey: ['work'] }),
      ...(storyKey === null ? [] : [queries.invalidateQueries({ queryKey: ['story', storyKey] })]),
    ]);
    return isDone;
  };
}
