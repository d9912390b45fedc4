import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type Story } from '@muster/contract';
import { useClient } from '../data/context.ts';
import { formatMicros, usageTexts } from '../messages/usage.ts';
import { LabeledFact } from '../story/fact.tsx';
import { storyUsageQuery } from './usage-queries.ts';

/** Shows what the runs on a story cost, once a run has reported usage. */
export function StoryCost({ story: { key, createdAt } }: { readonly story: Story }) {
  const sums = useQuery(storyUsageQuery(useClient(), key, createdAt)).data ?? [];
  if (sums.length === 0) return null;
  const costs = sums.map(({ costMicros, currency }) => formatMicros(costMicros, currency)).join(' + ');
  const runs = Math.max(...sums.map((sum) => sum.runs));
  return (
    <LabeledFact name={usageTexts.cost}>
      <Link to="/usage" search={{ story: key, by: 'model', days: 365 }} className="side-link">
        {usageTexts.storyCost(costs, runs)}
      </Link>
    </LabeledFact>
  );
}
