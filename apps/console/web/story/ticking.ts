/** Saves task boxes that are ticked in a displayed text. */
import { useRef } from 'react';
import { setTaskState } from '../components/markdown-text.ts';
import { errorText, showNotice } from '../components/notices.tsx';

interface VersionedText {
  readonly version: number;
  readonly content: string;
}

interface TickOptions {
  /**
   * Saves the changed text of `base`. Returns the saved text, which may include changes by others, or the reason why
   * it could not be saved.
   */
  readonly save: (content: string, base: VersionedText) => Promise<VersionedText | string>;
  readonly failureTitle: string;
  /** Refetches what shows the text. */
  readonly refetch: () => Promise<unknown>;
}

/**
 * Returns a function that ticks a box of the displayed text. It returns false and shows a notice if the save fails.
 * Boxes that are ticked in a row are saved one after the other.
 */
export function useTaskBoxes(displayed: VersionedText, { save, failureTitle, refetch }: TickOptions) {
  /** The text of a displayed version with the boxes that were ticked in it and saved. */
  const ticked = useRef({ displayedVersion: displayed.version, text: displayed });
  const before = useRef<Promise<unknown>>(Promise.resolve());
  const tick = async (index: number, isChecked: boolean): Promise<boolean> => {
    const { displayedVersion, text } = ticked.current;
    const base = displayedVersion === displayed.version ? text : displayed;
    const content = setTaskState(base.content, index, isChecked);
    try {
      if (content === undefined) return false;
      const saved = await save(content, base);
      if (typeof saved === 'string') showNotice({ tone: 'bad', title: failureTitle, body: saved });
      else {
        // A merged text can have other boxes, so the next change is merged with it too.
        const version = saved.content === content ? saved.version : base.version;
        ticked.current = { displayedVersion: displayed.version, text: { version, content } };
      }
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
