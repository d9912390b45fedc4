import { useQueryClient } from '@tanstack/react-query';
import { isRefusal } from '@muster/client';
import { showNotice, errorText } from './notices.tsx';

/** Performs a write. Returns true on success; otherwise it has shown the reason. */
export type WriteCall = (work: () => Promise<unknown>, done?: string) => Promise<boolean>;

interface WriteOptions {
  /** The keys of the queries that are refetched after the write, even if the write failed. */
  readonly queryKeys: readonly (readonly string[])[];
  readonly failureTitle: string;
  /** The reason to show if someone else has changed the record in the meantime. */
  readonly conflictMessage?: string;
}

export function useWriteCall({ queryKeys, failureTitle, conflictMessage }: WriteOptions): WriteCall {
  const queries = useQueryClient();
  return async (work, done) => {
    let isDone = false;
    try {
      await work();
      isDone = true;
    } catch (error) {
      const isMet = conflictMessage !== undefined && isRefusal(error, 'version_mismatch');
      showNotice({ tone: 'bad', title: failureTitle, body: isMet ? conflictMessage : errorText(error) });
    }
    await Promise.all(queryKeys.map((queryKey) => queries.invalidateQueries({ queryKey })));
    // The form counts as unsaved until this function returns, so the notice must not appear earlier.
    if (isDone && done !== undefined) showNotice({ tone: 'good', title: done });
    return isDone;
  };
}
