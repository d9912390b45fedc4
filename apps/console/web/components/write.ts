import { useQueryClient } from '@tanstack/react-query';
import { isRefusal } from '@muster/client';
import { notify, reasonFor } from './notices.tsx';

/** True where it was done; else the reason was said. */
export type Write = (work: () => Promise<unknown>, done?: string) => Promise<boolean>;

interface WriteOptions {
  /** What of all that was read is read anew after it, whatever came of it. */
  readonly about: readonly (readonly string[])[];
  readonly failed: string;
  /** The reason where another changed it meanwhile. */
  readonly met?: string;
}

export function useWriteOf({ about, failed, met }: WriteOptions): Write {
  const queries = useQueryClient();
  return async (work, done) => {
    let isDone = false;
    try {
      await work();
      isDone = true;
      if (done !== undefined) notify({ tone: 'good', title: done });
    } catch (error) {
      const isMet = met !== undefined && isRefusal(error, 'version_mismatch');
      notify({ tone: 'bad', title: failed, body: isMet ? met : reasonFor(error) });
    }
    await Promise.all(about.map((queryKey) => queries.invalidateQueries({ queryKey })));
    return isDone;
  };
}
