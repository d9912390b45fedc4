import { useProjectPermissions } from '../data/roles.ts';
import { projectKeyOf } from '../data/story-key.ts';
import { fileMarkdown } from './file-address.ts';
import { type Uploads, useFileDrop, useUploads } from './uploads.tsx';

export interface FilesInText {
  readonly running: Uploads['running'];
  /** Attaches files; undefined if the reader may not. */
  readonly add: Uploads['add'] | undefined;
  readonly isOver: boolean;
  readonly dropProps: object;
}

/**
 * Attaches files that are pasted into a text or dropped on it to the story, and inserts their links once they are
 * uploaded. A story that does not exist yet takes no files.
 */
export function useFilesInText(storyKey: string | undefined, insert: (link: string) => void): FilesInText {
  const projectKey = projectKeyOf(storyKey ?? '');
  const { mayWrite } = useProjectPermissions(projectKey);
  const { running, add } = useUploads({
    target: { targetType: 'story', targetId: storyKey ?? '' },
    queryKeys: [['story', storyKey ?? '', 'files']],
    onUploaded: (attachment) => insert(fileMarkdown(attachment)),
  });
  const adds = mayWrite ? add : undefined;
  const { isOver, dropProps } = useFileDrop(adds);
  return { running, add: adds, isOver, dropProps };
}
