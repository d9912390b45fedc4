/** The reviewers, their verdicts per version, and the reader's own verdict. */
import { useQuery } from '@tanstack/react-query';
import { type RefObject, useRef } from 'react';
import { type StoryContext } from '@muster/contract';
import { useClient, useIdentity } from '../data/context.ts';
import { Icon } from '../components/icons.tsx';
import { Avatar } from '../components/people.tsx';
import { useNewTextDraft } from '../components/unsaved.tsx';
import { useWriteCall, type WriteCall } from '../components/write.ts';
import { membersQuery } from '../data/people-queries.ts';
import { storyQuery } from '../data/queries.ts';
import { storyTexts, editTexts } from '../messages/story.ts';

type ReviewerList = NonNullable<StoryContext['reviewers']>;
type GivenVerdict = keyof typeof editTexts.verdicts;

interface VerdictFormProps {
  readonly storyId: string;
  readonly storyKey: string;
  readonly run: WriteCall;
}

function VerdictForm({ storyId, storyKey, run }: VerdictFormProps) {
  const { reviewers } = useClient();
  const { text: note, isDirty, change, saved, restored } = useNewTextDraft(`verdict.${storyId}`);
  const say = (verdict: GivenVerdict) => () =>
    void run(async () => {
      await reviewers.setVerdict({ storyId: storyKey, verdict, ...(isDirty && { note }) });
      saved(note);
    });
  return (
    <div className="verdict" role="group" aria-label={editTexts.verdict}>
      {restored}
      <textarea
        className="field"
        rows={note === '' ? 1 : 3}
        aria-label={editTexts.verdictNote}
        placeholder={editTexts.verdictNote}
        maxLength={5_000}
        value={note}
        onChange={({ target }) => change(target.value)}
      />
      <div className="form-foot">
        <button type="button" className="button" data-kind="main" onClick={say('approved')}>
          {editTexts.verdicts.approved}
        </button>
        <button
          type="button"
          className="button"
          disabled={!isDirty}
          title={isDirty ? undefined : editTexts.notePlease}
          onClick={say('changes_requested')}
        >
          {editTexts.verdicts.changes_requested}
        </button>
      </div>
    </div>
  );
}

/** Returns true for a verdict that does not count, because it is missing, stale or imported. */
export const isAwaited = ({ stale, verdict, importedBy }: ReviewerList[number]): boolean =>
  stale || verdict === 'pending' || importedBy !== null;

/** Returns true while an approval of the newest version of the spec is valid. */
export const hasValidApproval = (reviewers: ReviewerList): boolean =>
  reviewers.some((review) => review.verdict === 'approved' && !isAwaited(review));

function verdictTone(review: ReviewerList[number]): 'none' | 'good' | 'wait' {
  const { verdict } = review;
  if (isAwaited(review)) return 'none';
  return verdict === 'approved' ? 'good' : 'wait';
}

interface ReviewerItemProps {
  readonly review: ReviewerList[number];
  /** Removes the reviewer; undefined if the reviewer cannot be removed. */
  readonly onRemove: (() => void) | undefined;
}

function ReviewerItem({ review, onRemove }: ReviewerItemProps) {
  const { reviewer, verdict, stale, note, importedBy, importedFrom } = review;
  return (
    <li className="reviewer">
      <Avatar name={reviewer.name} kind={reviewer.kind} />
      <span className="grow">
        {reviewer.name}{' '}
        <span className="state" data-tone={verdictTone(review)}>
          {storyTexts.verdicts[verdict]}
        </span>
        {stale && <span className="muted side-note">{storyTexts.stale}</span>}
        {importedBy !== null && (
          <span className="muted side-note">{storyTexts.imported(importedBy.name, importedFrom ?? '')}</span>
        )}
        {note !== null && <span className="muted side-note">{note}</span>}
      </span>
      {onRemove !== undefined && (
        <button
          type="button"
          className="icon-button"
          aria-label={editTexts.remove(reviewer.name)}
          title={editTexts.remove(reviewer.name)}
          onClick={onRemove}
        >
          <Icon name="close" size={12} />
        </button>
      )}
    </li>
  );
}

interface AddReviewerSelectProps {
  readonly reviewers: ReviewerList;
  readonly selectRef: RefObject<HTMLSelectElement | null>;
  readonly onAsk: (memberId: string) => void;
}

/** The members who are not reviewers yet; renders nothing if all are. */
function AddReviewerSelect({ reviewers, selectRef, onAsk }: AddReviewerSelectProps) {
  const members = useQuery(membersQuery(useClient()));
  const asked = new Set(
    reviewers.flatMap(({ reviewer }) => (reviewer.kind === 'member' ? [reviewer.memberId] : [])),
  );
  const others = (members.data ?? []).filter(({ id }) => !asked.has(id));
  if (others.length === 0) return null;
  return (
    <select
      ref={selectRef}
      className="field side-choice"
      aria-label={editTexts.askReview}
      value=""
      onChange={({ target }) => onAsk(target.value)}
    >
      <option value="">{editTexts.askReview}…</option>
      {others.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}

/** Shows the form for a verdict to a member whose verdict is awaited, beside changes on another page than the story's. */
export function OwnVerdict({ storyKey }: { readonly storyKey: string }) {
  const { member, agent } = useIdentity();
  const context = useQuery(storyQuery(useClient(), storyKey)).data;
  const run = useWriteCall({ queryKeys: [['story', storyKey]], failureTitle: editTexts.notDone });
  const own = context?.reviewers?.find(
    ({ reviewer }) => agent === null && reviewer.kind === 'member' && reviewer.memberId === member.id,
  );
  const storyId = context?.story?.id;
  if (storyId === undefined || own === undefined || !isAwaited(own)) return null;
  return (
    <section className="story-part" aria-labelledby="own-verdict">
      <h2 id="own-verdict">{editTexts.verdict}</h2>
      <VerdictForm storyId={storyId} storyKey={storyKey} run={run} />
    </section>
  );
}

interface ReviewsProps {
  readonly storyId: string;
  readonly storyKey: string;
  readonly reviewers: ReviewerList;
  readonly canWrite: boolean;
}

export function Reviews({ storyId, storyKey, reviewers: all, canWrite }: ReviewsProps) {
  const { reviewers } = useClient();
  const { member, agent } = useIdentity();
  const run = useWriteCall({ queryKeys: [['story', storyKey]], failureTitle: editTexts.notDone });
  const list = useRef<HTMLUListElement>(null);
  const field = useRef<HTMLSelectElement>(null);
  const remove = ({ reviewer }: ReviewerList[number]): void => {
    (field.current ?? list.current)?.focus();
    void run(() =>
      reviewers.remove({
        storyId: storyKey,
        ...(reviewer.kind === 'agent'
          ? { agentId: reviewer.agentId ?? '' }
          : { memberId: reviewer.memberId }),
      }),
    );
  };
  const isMine = ({ reviewer }: ReviewerList[number]): boolean =>
    agent === null && reviewer.kind === 'member' && reviewer.memberId === member.id;
  return (
    <>
      {all.length === 0 && <p className="muted">{storyTexts.noReviewers}</p>}
      <ul ref={list} className="side-list" tabIndex={-1} aria-label={storyTexts.reviewers}>
        {all.map((one) => (
          <ReviewerItem
            key={one.id}
            review={one}
            onRemove={canWrite && one.verdict === 'pending' ? () => remove(one) : undefined}
          />
        ))}
      </ul>
      {all.some((one) => isMine(one) && isAwaited(one)) && (
        <VerdictForm storyId={storyId} storyKey={storyKey} run={run} />
      )}
      {canWrite && (
        <AddReviewerSelect
          reviewers={all}
          selectRef={field}
          onAsk={(memberId) => void run(() => reviewers.add({ storyId: storyKey, memberId }))}
        />
      )}
    </>
  );
}
