/** A table of how the work of agents, models and prompts turned out. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { type AgentRecord, type AgentRecordGrouping } from '@muster/contract';
import { NextPageButton } from '../components/next-page.tsx';
import { LoadError, Loading } from '../components/states.tsx';
import { useClient } from '../data/context.ts';
import { formatMicros, outcomeTexts, usageTexts } from '../messages/usage.ts';
import { outcomesQuery } from './usage-queries.ts';

const groupings = Object.keys(outcomeTexts.groupings) as AgentRecordGrouping[];
const { ratio } = outcomeTexts;

const costsPerLanded = ({ costs }: AgentRecord): string =>
  costs
    .flatMap(({ costPerLanded, currency }) =>
      costPerLanded === null ? [] : [formatMicros(costPerLanded, currency)],
    )
    .join(' + ') || usageTexts.none;

/** The columns after the name. Counts are small, so the cells show counts and no percentages. */
const columns: readonly (readonly [head: string, format: (record: AgentRecord) => string])[] = [
  [outcomeTexts.accepted, ({ acceptedFirst, submittedFirst }) => ratio(acceptedFirst, submittedFirst)],
  [outcomeTexts.sentBack, ({ sentBack, submitted }) => ratio(sentBack, submitted)],
  [outcomeTexts.stalled, ({ stalled, started }) => ratio(stalled, started)],
  [outcomeTexts.landed, ({ landed }) => landed.toLocaleString()],
  [outcomeTexts.reverted, ({ reverted, landed }) => ratio(reverted, Math.max(reverted, landed))],
  [usageTexts.costPerLanded, costsPerLanded],
];

interface OutcomesProps {
  readonly project: string | undefined;
  readonly days: number;
}

function OutcomeTable({ by, project, days }: OutcomesProps & { readonly by: AgentRecordGrouping }) {
  const outcomes = useInfiniteQuery(outcomesQuery(useClient(), by, project, days));
  if (outcomes.data === undefined)
    return outcomes.error === null ? (
      <Loading label={outcomeTexts.loading} rows={2} />
    ) : (
      <LoadError error={outcomes.error} onRetry={() => void outcomes.refetch()} />
    );
  const records = outcomes.data.pages.flatMap(({ items }) => items);
  if (records.length === 0)
    return <p className="muted">{by === 'prompt' ? outcomeTexts.emptyPrompt : outcomeTexts.empty}</p>;
  return (
    <>
      <div
        className="wide"
        tabIndex={0}
        role="region"
        aria-label={outcomeTexts.table(outcomeTexts.heads[by])}
      >
        <table className="table table-slim usage-table">
          <thead>
            <tr>
              <th scope="col">{outcomeTexts.heads[by]}</th>
              {columns.map(([head]) => (
                <th key={head} scope="col" className="number">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {records.map((record) => (
              <tr key={record.key.id}>
                <th scope="row" className="usage-name">
                  {record.key.name}
                </th>
                {columns.map(([head, format]) => (
                  <td key={head} className="tabular number">
                    {format(record)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <NextPageButton query={outcomes} name={usageTexts.more} />
    </>
  );
}

export function Outcomes({ project, days }: OutcomesProps) {
  const [by, setBy] = useState<AgentRecordGrouping>('agent');
  const titleId = useId();
  return (
    <section className="usage" aria-labelledby={titleId}>
      <div className="outcome-head">
        <h2 id={titleId}>{outcomeTexts.title}</h2>
        <select
          className="field trail-field"
          aria-label={outcomeTexts.groupBy}
          value={by}
          onChange={({ target }) => {
            setBy(target.value as AgentRecordGrouping);
          }}
        >
          {groupings.map((grouping) => (
            <option key={grouping} value={grouping}>
              {outcomeTexts.groupings[grouping]}
            </option>
          ))}
        </select>
      </div>
      <OutcomeTable {...{ by, project, days }} />
      <p className="muted">
        {outcomeTexts.hint} {by === 'prompt' && outcomeTexts.hintPrompt}
      </p>
    </section>
  );
}
