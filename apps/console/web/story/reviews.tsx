/** Who reviews, what they said of which version, and one's own verdict. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type StoryContext } from '@muster/registry';
import { useClient, useIdentity } from '../data/context.ts';
import { Icon } from '../parts/icons.tsx';
import { notify, reasonFor } from '../parts/notices.tsx';
import { Avatar } from '../parts/people.tsx';
import { membersQuery } from '../data/people-queries.ts';
import { t } from '../texts/index.ts';
import { w } from '../texts/story.ts';

type Reviewers = NonNullable<StoryContext['reviewers']>;
type Given = keyof typeof w.verdicts;

function Verdict({ storyKey, run }: { readonly storyKey: string; readonly run: Run }) {
  const { reviewers } = useClient();
  const [note, setNote] = useState('');
  const say = (verdict: Given) => () =>
    void run(async () => {
      await reviewers.setVerdict({ storyId: storyKey, verdict, ...(note.trim() !== '' && { note }) });
      setNote('');
    });
  return (
    <div className="verdict" role="group" aria-label={w.verdict}>
      <textarea
        className="field"
        rows={note === '' ? 1 : 3}
        aria-label={w.verdictNote}
        placeholder={w.verdictNote}
        maxLength={5_000}
        value={note}
        onChange={({ target }) => setNote(target.value)}
      />
      <div className="form-foot">
        <button type="button" className="button" data-kind="main" onClick={say('approved')}>
          {w.verdicts.approved}
        </button>
        <button
          type="button"
          className="button"
          disabled={note.trim() === ''}
          title={note.trim() === '' ? w.notePlease : undefined}
          onClick={say('changes_requested')}
        >
          {w.verdicts.changes_requested}
        </button>
      </div>
    </div>
  );
}

type Run = (work: () => Promise<unknown>) => Promise<void>;

export function Reviews({
  storyKey,
  reviewers: all,
  canWrite,
}: {
  readonly storyKey: string;
  readonly reviewers: Reviewers;
  readonly canWrite: boolean;
}) {
  const client = useClient();
  const queries = useQueryClient();
  const { member, agent } = useIdentity();
  const members = useQuery({ ...membersQuery(client), enabled: canWrite });
  const run: Run = async (work) => {
    try {
      await work();
    } catch (error) {
      notify({ tone: 'bad', title: w.notDone, body: reasonFor(error) });
    }
    await queries.invalidateQueries({ queryKey: ['story', storyKey] });
  };
  const isMine = (one: Reviewers[number]): boolean =>
    agent === null && one.reviewer.kind === 'member' && one.reviewer.memberId === member.id;
  const asked = new Set(
    all.flatMap(({ reviewer }) => (reviewer.kind === 'member' ? [reviewer.memberId] : [])),
  );
  const others = (members.data ?? []).filter(({ id }) => !asked.has(id));
  return (
    <>
      {all.length === 0 && <p className="muted">{t.story.noReviewers}</p>}
      <ul className="side-list">
        {all.map((one) => {
          const { id, reviewer, verdict, stale, note } = one;
          const tone = stale
            ? 'none'
            : verdict === 'approved'
              ? 'good'
              : verdict === 'pending'
                ? 'none'
                : 'wait';
          return (
            <li key={id} className="reviewer">
              <Avatar name={reviewer.name} kind={reviewer.kind} />
              <span className="grow">
                {reviewer.name}{' '}
                <span className="state" data-tone={tone}>
                  {t.verdicts[verdict]}
                </span>
                {stale && <span className="muted side-note">{t.story.stale}</span>}
                {note !== null && <span className="muted side-note">{note}</span>}
              </span>
              {canWrite && verdict === 'pending' && (
                <button
                  type="button"
                  className="icon-button"
                  aria-label={w.remove(reviewer.name)}
                  title={w.remove(reviewer.name)}
                  onClick={() =>
                    void run(() =>
                      client.reviewers.remove({
                        storyId: storyKey,
                        ...(reviewer.kind === 'agent'
                          ? { agentId: reviewer.agentId ?? '' }
                          : { memberId: reviewer.memberId }),
                      }),
                    )
                  }
                >
                  <Icon name="close" size={12} />
                </button>
              )}
            </li>
          );
        })}
      </ul>
      {all.some((one) => isMine(one) && (one.verdict === 'pending' || one.stale)) && (
        <Verdict storyKey={storyKey} run={run} />
      )}
      {canWrite && others.length > 0 && (
        <select
          className="field side-choice"
          aria-label={w.askReview}
          value=""
          onChange={({ target }) =>
            void run(() => client.reviewers.add({ storyId: storyKey, memberId: target.value }))
          }
        >
          <option value="">{w.askReview}…</option>
          {others.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
    </>
  );
}
