import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type ResultOf } from '@muster/contract';
import { type Registry } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { threadsQuery } from '../data/queries.ts';
import { projectKeyOf } from '../data/story-key.ts';
import { showNotice, errorText } from '../components/notices.tsx';
import { actorNameOf } from '../components/people.tsx';
import { LoadError, Loading, OfflineNotice } from '../components/states.tsx';
import { useNewTextDraft } from '../components/unsaved.tsx';
import { TextEditor } from '../editor/text-editor.tsx';
import { storyTexts } from '../messages/story.ts';
import { maxCommentLength } from './comment-editor.tsx';
import { CommentView } from './comment-view.tsx';
import { ProposedPlanLink } from './proposed-plan.tsx';

type Thread = ResultOf<Registry['comments']['list']>['items'][number];

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
  const [isUploading, setUploading] = useState(false);
  const projectKey = projectKeyOf(storyKey);
  const say = async (): Promise<void> => {
    if (!isDirty || isBusy || isUploading) return;
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
    >
      {restored}
      <TextEditor
        kind="comment"
        label={label}
        hint={placeholder}
        text={body}
        maxLength={maxCommentLength}
        storyKey={storyKey}
        projectKey={projectKey}
        onTextChange={change}
        onSubmit={() => void say()}
        onUploading={setUploading}
      />
      {isBusy && <OfflineNotice>{storyTexts.waits}</OfflineNotice>}
      {isDirty && (
        <button type="submit" className="button" data-kind="main" disabled={isBusy || isUploading}>
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
  const [isBusy, setBusy] = useState(false);
  /** Resolves or reopens the thread, after a reply with the chosen answer. */
  const resolve = async (answer?: string): Promise<void> => {
    setBusy(true);
    try {
      if (answer !== undefined)
        await comments.create({ storyId: thread.storyId, parentId: thread.id, body: answer });
      await comments.resolve({ commentId: thread.id, resolved: !isResolved });
      await refetchThreads();
    } catch (error) {
      showNotice({ tone: 'bad', title: storyTexts.notSaid, body: errorText(error) });
    }
    setBusy(false);
  };
  const all = (
    <>
      <CommentView comment={thread} {...{ storyKey, refetchThreads }} />
      {thread.replies.map((reply) => (
        <CommentView key={reply.id} comment={reply} {...{ storyKey, refetchThreads }} />
      ))}
      {thread.repliesCursor !== null && <p className="muted">{storyTexts.moreReplies}</p>}
      {!isResolved && thread.options.length > 0 && (
        <div className="talk-foot" role="group" aria-label={storyTexts.answers}>
          {thread.options.map((option) => (
            <button
              key={option}
              type="button"
              className="button"
              disabled={isBusy}
              onClick={() => void resolve(option)}
            >
              {option}
            </button>
          ))}
        </div>
      )}
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
        <button
          type="button"
          className="button"
          data-kind="quiet"
          disabled={isBusy}
          onClick={() => void resolve()}
        >
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
