import { diffWordsWithSpace } from 'diff';
import { useMemo } from 'react';
import { storyTexts } from '../messages/story.ts';

/** Shows removed and added words, also to screen readers. */
export default function WordDiff({ before, after }: { readonly before: string; readonly after: string }) {
  const parts = useMemo(() => diffWordsWithSpace(before, after), [before, after]);
  if (parts.every(({ added, removed }) => !added && !removed))
    return <p className="muted">{storyTexts.same}</p>;
  return (
    <div className="diff">
      {parts.map(({ value, added, removed }, index) =>
        added ? (
          <ins key={index}>
            <span className="sr-only">{storyTexts.added} </span>
            {value}
          </ins>
        ) : removed ? (
          <del key={index}>
            <span className="sr-only">{storyTexts.removed} </span>
            {value}
          </del>
        ) : (
          <span key={index}>{value}</span>
        ),
      )}
    </div>
  );
}
