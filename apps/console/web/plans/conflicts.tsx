/** The conflicts between the shown stories, with a path that both would change. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { type StoryCard, type StoryConflictPair } from '@muster/contract';
import { useClient } from '../data/context.ts';
import { planTexts } from '../messages/plans.ts';
import { conflictsQuery } from './queries.ts';

const texts = planTexts.waves;

/** A conflict as one of its stories shows it. */
export interface Conflict {
  /** The key of the other story. */
  readonly other: string;
  readonly witness: string;
}

interface Conflicts {
  readonly pairs: readonly StoryConflictPair[];
  readonly byKey: ReadonlyMap<string, readonly Conflict[]>;
  readonly isTruncated: boolean;
}

export function useConflicts(projectKey: string, cards: ReadonlyMap<string, StoryCard>): Conflicts {
  const { data } = useQuery(conflictsQuery(useClient(), projectKey));
  return useMemo(() => {
    const pairs = data?.pairs.filter(({ a, b }) => cards.has(a.id) && cards.has(b.id)) ?? [];
    const byKey = new Map<string, Conflict[]>();
    for (const { a, b, witness } of pairs)
      for (const [one, other] of [
        [a, b],
        [b, a],
      ] as const)
        byKey.set(one.key, [...(byKey.get(one.key) ?? []), { other: other.key, witness }]);
    return { pairs, byKey, isTruncated: data?.truncated === true };
  }, [data, cards]);
}

const maxVisiblePairs = 50;

const StoryKeyLink = ({ storyKey }: { readonly storyKey: string }) => (
  <Link to="/s/$storyKey" params={{ storyKey }} className="trail-link key">
    {storyKey}
  </Link>
);

export function ConflictList({ conflicts: { pairs, isTruncated } }: { readonly conflicts: Conflicts }) {
  if (pairs.length === 0) return null;
  return (
    <section className="group page-column" aria-labelledby="conflicts">
      <h2 id="conflicts">{texts.conflicts}</h2>
      <p className="muted">{texts.conflictsIntro}</p>
      <ul className="rows">
        {pairs.slice(0, maxVisiblePairs).map(({ a, b, witness }) => (
          <li key={`${a.id} ${b.id}`} className="row row-slim">
            <p className="row-words">
              <StoryKeyLink storyKey={a.key} /> · <StoryKeyLink storyKey={b.key} />{' '}
              <span className="muted">{texts.bothChange}</span> <code>{witness}</code>
            </p>
          </li>
        ))}
      </ul>
      {pairs.length > maxVisiblePairs && (
        <p className="hint">{texts.moreConflicts(pairs.length - maxVisiblePairs)}</p>
      )}
      {isTruncated && <p className="hint">{texts.incomplete}</p>}
    </section>
  );
}
