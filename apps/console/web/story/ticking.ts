/** Saves task boxes that are ticked in a displayed text. */
import { useRef } from 'react';
import { setTaskState } from '../components/markdown-text.ts';
import { errorText, showNotice } from '../components/notices.tsx';

interface VersionedText {
  readonly version: number;
  readonly content: string;
}

interface TickOptions {
  /** Saves the changed text of `base`. Returns the saved text, or the reason why it could not be saved. */
  readonly save: (content: string, base: VersionedText) => Promise<VersionedText | string>;
  readonly failureTitle: string;
  /** Refetches what shows the text. */
  readonly refetch: () => Promise<unknown>;
}

/**
 * Returns a function that ticks a box. It returns false and shows a notice if the save fails. Boxes that are
 * ticked in a row are saved one after the other.
 */
export function useTaskBoxes(shown: VersionedText, { save, failureTitle, refetch }: TickOptions) {
  const latest = useRef(shown);
  if (shown.version > latest.current.version) latest.current = shown;
  const before = useRef<Promise<unknown>>(Promise.resolve());
  const tick = async (index: number, isChecked: boolean): Promise<boolean> => {
    const content = setTaskState(latest.current.content, index, isChecked);
    try {
      if (content === undefined) return false;
      const saved = await save(content, latest.current);
      if (typeof saved === 'string') showNotice({ tone: 'bad', title: failureTitle, body: saved });
      else latest.current = saved;
      return typeof saved !== 'string';
    } catch (error) {
      showNotice({ tone: 'bad', title: failureTitle, body: errorText(error) });
      return false;
    } finally {
      await refetch();
    }
  };
  return (index: number, isChecked: boolean): Promise<boolean> => {
    const saved = before.current.then(() => tick(index, isChecked));
    before.current = saved;
    return saved;
  };
}
