import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { type Comment, type Registry, type ResultOf } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { threadsQuery } from '../data/queries.ts';
import { Markdown } from '../components/markdown.tsx';
import { showNotice, errorText } from '../components/notices.tsx';
import { Avatar, actorNameOf } from '../components/people.tsx';
import { LoadError, Loading, OfflineNotice } from '../components/states.tsx';
import { TimeAgo } from '../components/time-ago.tsx';
import { useNewTextDraft } from '../components/unsaved.tsx';
import { CommentFiles } from '../files/comment-files.tsx';
import { pastedFiles, RunningUploads } from '../files/uploads.tsx';
import { useFilesInText } from '../files/files-in-text.ts';
import { storyTexts } from '../messages/story.ts';
import { ProposedPlanLink } from './proposed-plan.tsx';

type Thread = ResultOf<Registry['comments']['list']>['items'][number];

interface CommentViewProps {
  readonly comment: Comment;
  readonly storyKey: string;
}

const CommentView = ({ comment, storyKey }: CommentViewProps) => (
  <div className="said">
    <Avatar name={comment.author.name} kind={comment.author.kind} />
    <div className="grow">
      <div className="said-head">
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
          <span className="chip">
            {storyTexts.imported(comment.importedBy.name, comment.importedFrom ?? '')}
          </span>
        )}
        <TimeAgo className="muted" at={comment.createdAt} />
      </div>
      {comment.body === null ? (
        <p className="muted">{storyTexts.deleted}</p>
      ) : (
        <Markdown text={comment.body} />
      )}
      <CommentFiles comment={comment} storyKey={storyKey} />
      {comment.reactions.length > 0 && (
        <p className="reactions">
          {comment.reactions.map(({ emoji, count }) => (
            <span key={emoji} className="chip">
              {emoji} {count}
            </span>
          ))}
        </p>
      )}
    </div>
  </div>
);

interface CommentFormProps {
  /** The name under which the draft of the comment is stored. */
  readonly draftKey: string;
  readonly label: string;
  readonly placeholder: string;
  readonly submitLabel: string;
  /** The story to which pasted and dropped files are attached. */
  readonly storyKey: string;
  readonly onSend: (body: string) => Promise<unknown>;
}

/** A field for a comment. Its text is kept until it is saved, as a draft even when the page is left. */
export function CommentForm(props: CommentFormProps) {
  const { draftKey, label, placeholder, submitLabel, storyKey, onSend } = props;
  const { text: body, isDirty, change, saved, restored } = useNewTextDraft(draftKey);
  const [isBusy, setBusy] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const { running, add, dropProps } = useFilesInText(field, storyKey, change);
  const say = async (): Promise<void> => {
    if (!isDirty || isBusy || running.length > 0) return;
    setBusy(true);
    try {
      await onSend(body);
      saved(body);
    } catch (error) {
      showNotice({ tone: 'bad', title: storyTexts.notSaid, body: errorText(error) });
    }
    setBusy(false);
  };
  return (
    <form
      className="write"
      onSubmit={(event) => {
        event.preventDefault();
        void say();
      }}
      {...dropProps}
    >
      {restored}
      <textarea
        ref={field}
        className="field"
        dir="auto"
        rows={body === '' ? 1 : 4}
        value={body}
        maxLength={20_000}
        aria-label={label}
        placeholder={placeholder}
        onChange={({ target }) => change(target.value)}
        onPaste={(event) => add?.(pastedFiles(event))}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) {
            event.preventDefault();
            void say();
          }
        }}
      />
      <RunningUploads running={running} />
      {isBusy && <OfflineNotice>{storyTexts.waits}</OfflineNotice>}
      {isDirty && (
        <button type="submit" className="button" data-kind="main" disabled={isBusy || running.length > 0}>
          {submitLabel}
        </button>
      )}
    </form>
  );
}

interface ThreadViewProps {
  readonly thread: Thread;
  readonly storyKey: string;
  readonly refetchThreads: () => Promise<unknown>;
}

export function ThreadView({ thread, storyKey, refetchThreads }: ThreadViewProps) {
  const { comments } = useClient();
  const isResolved = thread.resolvedAt !== null;
  const resolve = async (): Promise<void> => {
    try {
      await comments.resolve({ commentId: thread.id, resolved: !isResolved });
      await refetchThreads();
    } catch (error) {
      showNotice({ tone: 'bad', title: storyTexts.notSaid, body: errorText(error) });
    }
  };
  const all = (
    <>
      <CommentView comment={thread} storyKey={storyKey} />
      {thread.replies.map((reply) => (
        <CommentView key={reply.id} comment={reply} storyKey={storyKey} />
      ))}
      {thread.repliesCursor !== null && <p className="muted">{storyTexts.moreReplies}</p>}
      <div className="talk-foot">
        <CommentForm
          draftKey={`reply.${thread.id}`}
          label={storyTexts.replyTo(actorNameOf(thread.author))}
          placeholder={storyTexts.reply}
          submitLabel={storyTexts.reply}
          storyKey={storyKey}
          onSend={async (body) => {
            await comments.create({ storyId: thread.storyId, parentId: thread.id, body });
            await refetchThreads();
          }}
        />
        <button type="button" className="button" data-kind="quiet" onClick={() => void resolve()}>
          {isResolved ? storyTexts.reopen : storyTexts.resolve}
        </button>
      </div>
    </>
  );
  if (!isResolved) return <li className="talk">{all}</li>;
  return (
    <li className="talk">
      <details>
        <summary className="muted">
          {storyTexts.resolvedBy(thread.resolvedBy?.name ?? '', thread.body ?? '')}
        </summary>
        {all}
      </details>
    </li>
  );
}

export function Threads({ storyId, storyKey }: { readonly storyId: string; readonly storyKey: string }) {
  const client = useClient();
  const queries = useQueryClient();
  const threads = useQuery(threadsQuery(client, storyKey));
  const again = () => queries.invalidateQueries({ queryKey: ['story', storyKey, 'threads'] });
  return (
    <section className="story-part" aria-labelledby="threads">
      <h2 id="threads">{storyTexts.threads}</h2>
      {threads.isError && <LoadError error={threads.error} onRetry={() => void threads.refetch()} />}
      {threads.isPending && <Loading label={storyTexts.loading} rows={2} />}
      <ProposedPlanLink
        storyKey={storyKey}
        texts={
          threads.data?.items.flatMap(({ body, replies }) => [body, ...replies.map((reply) => reply.body)]) ??
          []
        }
      />
      <ul className="talks">
        {threads.data?.items.map((thread) => (
          <ThreadView key={thread.id} {...{ thread, storyKey }} refetchThreads={again} />
        ))}
      </ul>
      <CommentForm
        draftKey={`comment.${storyId}`}
        label={storyTexts.comment}
        placeholder={storyTexts.commentHint}
        submitLabel={storyTexts.comment}
        storyKey={storyKey}
        onSend={async (body) => {
          await client.comments.create({ storyId: storyKey, body });
          await again();
        }}
      />
    </section>
  );
}
