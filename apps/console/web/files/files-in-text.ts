import { type RefObject } from 'react';
import { useProjectPermissions } from '../data/roles.ts';
import { projectKeyOf } from '../data/story-key.ts';
import { fileMarkdown } from './file-address.ts';
import { type Uploads, useFileDrop, useUploads } from './uploads.tsx';

interface FilesInText {
  readonly running: Uploads['running'];
  /** Attaches files; undefined if the reader may not. */
  readonly add: Uploads['add'] | undefined;
  readonly dropProps: object;
}

/**
 * Attaches files that are pasted into a text or dropped on it to the story, and inserts their links where the caret
 * is once they are uploaded.
 */
export function useFilesInText(
  field: RefObject<HTMLTextAreaElement | null>,
  storyKey: string,
  change: (text: string) => void,
): FilesInText {
  const projectKey = projectKeyOf(storyKey);
  const { mayWrite } = useProjectPermissions(projectKey);
  const { running, add } = useUploads({
    target: { targetType: 'story', targetId: storyKey },
    queryKeys: [['story', storyKey, 'files']],
    onUploaded: (attachment) => {
      const element = field.current;
      if (element === null) return;
      const { value, selectionStart, selectionEnd } = element;
      const link = fileMarkdown(attachment);
      change(value.slice(0, selectionStart) + link + value.slice(selectionEnd));
      const caret = selectionStart + link.length;
      requestAnimationFrame(() => element.setSelectionRange(caret, caret));
    },
  });
  const adds = mayWrite ? add : undefined;
  const { dropProps } = useFileDrop(adds);
  return { running, add: adds, dropProps };
}
