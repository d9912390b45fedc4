/** The acceptance criteria of a spec with the evidence that they name. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Link } from '@tanstack/react-router';
import { Icon } from '../components/icons.tsx';
import { useClient } from '../data/context.ts';
import { storyFilesQuery } from '../files/file-queries.ts';
import { criteriaTexts } from '../messages/files.ts';
import { type CriterionEvidence, findEvidence, parseCriteria } from './criteria.ts';

const tones = { fresh: 'good', stale: 'wait', missing: 'none' } as const;

const EvidenceState = ({ state, file }: CriterionEvidence) => (
  <span className="state" data-tone={tones[state]}>
    <Icon name={state === 'fresh' ? 'tick' : 'warn'} size={13} />
    {criteriaTexts.states[state]}
    {file !== undefined && (
      <Link to="/files/$attachmentId" params={{ attachmentId: file.id }} className="file-name">
        {file.name}
      </Link>
    )}
  </span>
);

interface CriteriaEvidenceProps {
  readonly storyKey: string;
  readonly spec: string;
}

/** Renders nothing if no criterion of the spec names evidence. */
export function CriteriaEvidence({ storyKey, spec }: CriteriaEvidenceProps) {
  const criteria = parseCriteria(spec);
  const query = useInfiniteQuery({
    ...storyFilesQuery(useClient(), storyKey),
    // The list of files on the page polls it.
    refetchInterval: false,
    enabled: criteria.length > 0,
  });
  const files = query.data?.pages.flatMap(({ items }) => items) ?? [];
  const rows = criteria.map((criterion) => ({ criterion, found: findEvidence(criterion, files) }));
  const { hasNextPage, isFetching, isError, fetchNextPage } = query;
  // Evidence that is missing or outdated in these pages may be fresh in an older one.
  const isSearching = hasNextPage && rows.some(({ found }) => found.state !== 'fresh');
  useEffect(() => {
    if (isSearching && !isFetching && !isError) void fetchNextPage();
  }, [isSearching, isFetching, isError, fetchNextPage]);
  if (criteria.length === 0 || query.data === undefined || isSearching) return null;
  const freshCount = rows.filter(({ found }) => found.state === 'fresh').length;
  return (
    <section className="criteria" aria-labelledby="criteria">
      <h3 id="criteria">{criteriaTexts.title(freshCount, rows.length)}</h3>
      <ul>
        {rows.map(({ criterion: { text, evidence }, found }, index) => (
          <li key={index}>
            <span>{text}</span>
            <span className="muted">({evidence})</span>
            <EvidenceState {...found} />
          </li>
        ))}
      </ul>
    </section>
  );
}
