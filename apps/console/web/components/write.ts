import { useQueryClient } from '@tanstack/react-query';
import { isRefusal } from '@muster/client';
import { notify, errorText } from './notices.tsx';

/** Performs a write. Returns true on success; otherwise it has shown the reason. */
export type WriteCall = (work: () => Promise<unknown>, done?: string) => Promise<boolean>;

interface WriteOptions {
  /** The keys of the queries that are refetched after the write, even if the write failed. */
  readonly about: readonly (readonly string[])[];
  readonly failed: string;
  /** The reason to show if someone else has changed the record in the meantime. */
  readonly met?: string;
}

export function useWriteCall({ about, failed, met }: WriteOptions): WriteCall {
  const queries = useQueryClient();
  return async (work, done) => {
    let isDone = false;
    try {
      await work();
      isDone = true;
      if (done !== undefined) notify({ tone: 'good', title: done });
    } catch (error) {
      const isMet = met !== undefined && isRefusal(error, 'version_mismatch');
      notify({ tone: 'bad', title: failed, body: isMet ? met : errorText(error) });
    }
    await Promise.all(about.map((queryKey) => queries.invalidateQueries({ queryKey })));
    return isDone;
  };
}
