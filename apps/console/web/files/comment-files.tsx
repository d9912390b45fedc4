/** The files that are attached to a comment itself. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { type Comment } from '@muster/contract';
import { useClient, useIsAuthor } from '../data/context.ts';
import { projectKeyOf } from '../data/story-key.ts';
import { actorNameOf } from '../components/people.tsx';
import { fileTexts } from '../messages/files.ts';
import { FileList } from './file-list.tsx';
import { storyFilesQuery } from './file-queries.ts';
import { AttachButton, RunningUploads, useUploads } from './uploads.tsx';

interface CommentFilesProps {
  readonly comment: Comment;
  readonly storyKey: string;
}

export function CommentFiles({ comment, storyKey }: CommentFilesProps) {
  const files =
    useInfiniteQuery({ ...storyFilesQuery(useClient(), storyKey), refetchInterval: false }).data?.pages ?? [];
  const uploads = useUploads({
    target: { targetType: 'comment', targetId: comment.id },
    queryKeys: [['story', storyKey, 'files']],
  });
  const projectKey = projectKeyOf(storyKey);
  const { author } = comment;
  const isOwn = useIsAuthor(author);
  return (
    <>
      <FileList
        files={files.flatMap(({ items }) => items.filter(({ targetId }) => targetId === comment.id))}
        projectKey={projectKey}
      />
      <RunningUploads running={uploads.running} />
      {isOwn && comment.body !== null && (
        <AttachButton
          label={fileTexts.attach}
          hiddenLabel={fileTexts.attachTo(actorNameOf(author))}
          isQuiet
          onFiles={uploads.add}
        />
      )}
    </>
  );
}
