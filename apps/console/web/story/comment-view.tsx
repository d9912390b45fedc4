/** A comment: its text, its files and reactions, and what its author may do with it. */
import { useState } from 'react';
import { type Comment } from '@muster/contract';
import { useClient, useIsAuthor } from '../data/context.ts';
import { useProjectPermissions } from '../data/roles.ts';
import { projectKeyOf } from '../data/story-key.ts';
import { useReturnFocus } from '../components/focus.ts';
import { Icon } from '../components/icons.tsx';
import { Markdown } from '../components/markdown.tsx';
import { Menu, type MenuItem } from '../components/menu.tsx';
import { Avatar, actorNameOf } from '../components/people.tsx';
import { TimeAgo } from '../components/time-ago.tsx';
import { CommentFiles } from '../files/comment-files.tsx';
import { commentTexts, storyTexts } from '../messages/story.ts';
import { deleteComment, useIsDeletionPending } from './comment-deletion.ts';
import { CommentEditor, useHasCommentDraft } from './comment-editor.tsx';
import { ReactionMenu, Reactions } from './reactions.tsx';
import { useTaskBoxes } from './ticking.ts';

interface CommentViewProps {
  readonly comment: Comment;
  readonly storyKey: string;
  readonly refetchThreads: () => Promise<unknown>;
}

const CommentHead = ({ comment }: { readonly comment: Comment }) => (
  <>
    <strong>{actorNameOf(comment.author)}</strong>
    {comment.kind !== 'comment' && (
      <span className="state" data-tone={comment.kind === 'question' ? 'wait' : 'look'}>
        {storyTexts.kinds[comment.kind]}
      </span>
    )}
    {comment.anchor !== null && (
      <span className="chip">{storyTexts.onLine(comment.anchor.line, comment.anchor.specVersion)}</span>
    )}
    {comment.codeAnchor !== null && (
      <span className="chip">{storyTexts.onCode(comment.codeAnchor.path, comment.codeAnchor.line)}</span>
    )}
    {comment.importedBy !== null && (
      <span className="chip">{storyTexts.imported(comment.importedBy.name, comment.importedFrom ?? '')}</span>
    )}
    <TimeAgo className="muted" at={comment.createdAt} />
    {comment.via !== null && <span className="muted">{storyTexts.via[comment.via]}</span>}
    {comment.editedAt !== null && <span className="muted">{commentTexts.edited}</span>}
  </>
);

/** Returns the actions of a comment: its author may edit and delete it, and leads may delete any. */
function useCommentMenu({ comment, storyKey, refetchThreads }: CommentViewProps, onEdit: () => void) {
  const { comments } = useClient();
  const isOwn = useIsAuthor(comment.author);
  const projectKey = projectKeyOf(storyKey);
  const { isLead } = useProjectPermissions(projectKey);
  const remove = (): void =>
    deleteComment({
      ...{ id: comment.id, storyKey },
      deleteNow: async () => {
        await comments.delete({ commentId: comment.id });
        await refetchThreads();
      },
    });
  const items: MenuItem[] = [
    ...(isOwn ? [{ id: 'edit', name: commentTexts.edit, run: onEdit }] : []),
    ...(isOwn || isLead ? [{ id: 'delete', name: commentTexts.delete, run: remove }] : []),
  ];
  return { isOwn, items: comment.body === null ? [] : items };
}

export function CommentView(props: CommentViewProps) {
  const { storyKey, refetchThreads } = props;
  const isDeleted = useIsDeletionPending(props.comment.id);
  const comment = isDeleted ? { ...props.comment, body: null } : props.comment;
  const { id: commentId, body, version, author } = comment;
  const { comments } = useClient();
  const [isEdited, setEdited] = useState(useHasCommentDraft(commentId));
  const { isOwn, items } = useCommentMenu({ ...props, comment }, () => setEdited(true));
  const tick = useTaskBoxes(
    { version, content: body ?? '' },
    {
      save: async (content, base) => {
        const { comment: saved } = await comments.update({
          ...{ commentId, body: content, expectedVersion: base.version },
        });
        return { version: saved.version, content };
      },
      failureTitle: storyTexts.notSaid,
      refetch: refetchThreads,
    },
  );
  const opener = useReturnFocus(isEdited);
  return (
    <div className="said">
      <Avatar name={author.name} kind={author.kind} />
      <div className="grow">
        <div className="said-head">
          <CommentHead comment={comment} />
          {body !== null && (
            <span className="said-actions">
              <ReactionMenu {...{ comment, refetchThreads }} />
              {items.length > 0 && (
                <span ref={(place) => void (opener.current = place?.querySelector('button') ?? null)}>
                  <Menu
                    label={commentTexts.actions(actorNameOf(author))}
                    items={items}
                    className="icon-button"
                  >
                    <Icon name="more" size={14} />
                  </Menu>
                </span>
              )}
            </span>
          )}
        </div>
        {body === null ? (
          <p className="muted">{storyTexts.deleted}</p>
        ) : isEdited && isOwn ? (
          <CommentEditor {...props} body={body} onClose={() => setEdited(false)} />
        ) : (
          <Markdown text={body} onTaskChange={isOwn ? tick : undefined} />
        )}
        <CommentFiles comment={comment} storyKey={storyKey} />
        {body !== null && <Reactions {...{ comment, refetchThreads }} />}
      </div>
    </div>
  );
}
