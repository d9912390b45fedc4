/** Edits a comment in its place. */
import { useState } from 'react';
import { isRefusal } from '@muster/client';
import { type Comment } from '@muster/contract';
import { useClient } from '../data/context.ts';
import { projectKeyOf } from '../data/story-key.ts';
import { useLeaveConfirmation } from '../components/leaving.ts';
import { EditConflictNotice } from '../components/met.tsx';
import { errorText, showNotice } from '../components/notices.tsx';
import { DraftRestoredNotice, useDraft } from '../components/unsaved.tsx';
import { TextEditor } from '../editor/text-editor.tsx';
import { t } from '../messages/index.ts';
import { commentTexts, storyTexts } from '../messages/story.ts';

export const maxCommentLength = 20_000;

const draftKeyOf = (commentId: string): string => `edit.${commentId}`;

/** True if the editor of the comment opens with a draft. */
export const useHasCommentDraft = (commentId: string): boolean =>
  useDraft(draftKeyOf(commentId)).found !== undefined;

interface CommentEditorProps {
  readonly comment: Comment;
  readonly body: string;
  readonly storyKey: string;
  readonly refetchThreads: () => Promise<unknown>;
  readonly onClose: () => void;
}

function useCommentEdit({ comment, body, refetchThreads, onClose }: CommentEditorProps) {
  const { comments } = useClient();
  const { found, keep, clear } = useDraft(draftKeyOf(comment.id));
  const [base] = useState(found?.base ?? { version: comment.version, content: body });
  const [text, setText] = useState(found?.text ?? body);
  const [hasConflict, setConflict] = useState(false);
  const [isSaving, setSaving] = useState(false);
  const [isUploading, setUploading] = useState(false);
  const isBusy = isSaving || isUploading;
  const close = (): void => {
    clear();
    onClose();
  };
  const send = async (version: number): Promise<void> => {
    if (isBusy) return;
    setSaving(true);
    try {
      await comments.update({ commentId: comment.id, body: text, expectedVersion: version });
      await refetchThreads();
      close();
    } catch (error) {
      const isMet = isRefusal(error, 'version_mismatch');
      if (isMet) await refetchThreads();
      else showNotice({ tone: 'bad', title: storyTexts.notSaid, body: errorText(error) });
      setConflict(isMet);
    }
    setSaving(false);
  };
  const isDirty = text !== base.content;
  return {
    ...{ found, text, isDirty, hasConflict, isBusy, setUploading, close, send },
    change: (next: string): void => {
      setText(next);
      if (next === base.content) clear();
      else keep(next, base);
    },
    save: async (): Promise<void> => {
      if (!isDirty && !isUploading) close();
      else if (text.trim() !== '') await send(base.version);
    },
  };
}

/** Edits a comment. Its author may have changed it in another window; that text is then shown beside the new one. */
export function CommentEditor(props: CommentEditorProps) {
  const { comment, body, storyKey } = props;
  const { found, text, isDirty, hasConflict, isBusy, setUploading, close, send, change, save } =
    useCommentEdit(props);
  const askFirst = useLeaveConfirmation(isDirty);
  const projectKey = projectKeyOf(storyKey);
  return (
    <form
      className="write"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      {found !== undefined && isDirty && (
        <DraftRestoredNotice draft={found} onDiscard={() => askFirst(close)} />
      )}
      <TextEditor
        kind="text"
        label={commentTexts.editor}
        text={text}
        maxLength={maxCommentLength}
        {...{ storyKey, projectKey }}
        onTextChange={change}
        onSubmit={() => void save()}
        onEscape={() => {
          if (!isDirty) close();
          return !isDirty;
        }}
        onUploading={setUploading}
      />
      {hasConflict ? (
        <EditConflictNotice
          name={storyTexts.comment}
          theirValue={body}
          ownValue={text}
          onKeepTheirs={close}
          onSaveMine={() => void send(comment.version)}
        />
      ) : (
        <div className="form-foot">
          <button type="submit" className="button" data-kind="main" disabled={isBusy || text.trim() === ''}>
            {commentTexts.save}
          </button>
          <button type="button" className="button" onClick={() => askFirst(close)}>
            {t.cancel}
          </button>
        </div>
      )}
    </form>
  );
}
