/** The page of a project's delivery metrics: five metrics, each as a chart and a table. */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { type ResultOf } from '@muster/contract';
import { type Registry } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { lazyComponent } from '../components/lazily.ts';
import { LoadError, Loading } from '../components/states.tsx';
import { useTitle } from '../components/title.ts';
import { formatDay, formatDuration } from '../messages/index.ts';
import { viewTexts } from '../messages/views.ts';
import { healthQuery } from './queries.ts';
import { ProjectPageHeader } from './project-head.tsx';

const Chart = lazyComponent(
  () => import('./chart.tsx'),
  () => <div className="chart skeleton" />,
);
const healthRoute = getRouteApi('/p/$projectKey/health');

type DeliveryHealth = ResultOf<Registry['projects']['deliveryHealth']>;
type HealthMetric = keyof typeof viewTexts.health.measures;
const healthMetrics = Object.keys(viewTexts.health.measures) as HealthMetric[];
const periodsInWeeks = [4, 12, 26, 52] as const;

const formatSeconds = (seconds: number): string => formatDuration(seconds * 1_000);
const formatNullableDuration = (seconds: number | null): string =>
  seconds === null ? viewTexts.health.unknown : formatSeconds(seconds);

interface MetricSectionProps {
  readonly measure: HealthMetric;
  readonly health: DeliveryHealth;
}

function MetricSection({ measure: metric, health }: MetricSectionProps) {
  const { weeks, totals } = health;
  const [name = '', why = ''] = viewTexts.health.measures[metric];
  const data = useMemo(
    () => ({
      times: weeks.map(({ startsAt }) => Date.parse(startsAt) / 1_000),
      series: [weeks.map((week) => week[metric].p50), weeks.map((week) => week[metric].p90)],
    }),
    [weeks, metric],
  );
  const total = totals[metric];
  const shown = weeks.filter((week) => week[metric].count > 0);
  // The chart is a line, which needs at least two points.
  const hasChart = weeks.filter((week) => week[metric].p90 !== null).length > 1;
  return (
    <section className="health" aria-labelledby={metric}>
      <header>
        <h2 id={metric}>{name}</h2>
        <p className="muted">{why}</p>
      </header>
      {total.count === 0 ? (
        <p className="muted">{viewTexts.health.none}</p>
      ) : (
        <div className="health-two">
          {hasChart && (
            <div>
              <Chart label={viewTexts.health.chart(name)} minTop={60} formatValue={formatSeconds} {...data} />
              <p className="chart-key">
                <span data-line="half">{viewTexts.health.half}</span>
                <span data-line="most">{viewTexts.health.most}</span>
              </p>
            </div>
          )}
          <div className="wide" tabIndex={0} role="region" aria-label={viewTexts.health.table(name)}>
            <table className="table table-slim">
              <thead>
                <tr>
                  <th scope="col">{viewTexts.health.week}</th>
                  <th scope="col" className="number">
                    {viewTexts.health.count}
                  </th>
                  <th scope="col" className="number">
                    {viewTexts.health.half}
                  </th>
                  <th scope="col" className="number">
                    {viewTexts.health.most}
                  </th>
                </tr>
              </thead>
              <tbody>
                {shown.toReversed().map((week) => (
                  <tr key={week.week}>
                    <th scope="row">{formatDay(week.startsAt)}</th>
                    <td className="tabular number">{week[metric].count.toLocaleString()}</td>
                    <td className="tabular number">{formatNullableDuration(week[metric].p50)}</td>
                    <td className="tabular number">{formatNullableDuration(week[metric].p90)}</td>
                  </tr>
                ))}
                <tr className="total">
                  <th scope="row">{viewTexts.health.total}</th>
                  <td className="tabular number">{total.count.toLocaleString()}</td>
                  <td className="tabular number">{formatNullableDuration(total.p50)}</td>
                  <td className="tabular number">{formatNullableDuration(total.p90)}</td>
                </tr>
              </tbody>
            </table>
          </div>
        </div>
      )}
    </section>
  );
}

export function HealthPage() {
  const projectKey = healthRoute.useParams().projectKey.toUpperCase();
  const { weeks = 12 } = healthRoute.useSearch();
  const navigate = useNavigate({ from: '/p/$projectKey/health' });
  const health = useQuery(healthQuery(useClient(), projectKey, weeks));
  useTitle(`${viewTexts.health.title} ${projectKey}`);
  return (
    <>
      <ProjectPageHeader projectKey={projectKey} title={viewTexts.health.title}>
        <select
          className="field health-span"
          aria-label={viewTexts.health.weeks}
          value={weeks}
          onChange={({ target }) => void navigate({ search: { weeks: Number(target.value) }, replace: true })}
        >
          {periodsInWeeks.map((count) => (
            <option key={count} value={count}>
              {viewTexts.health.span(count)}
            </option>
          ))}
        </select>
      </ProjectPageHeader>
      <div className="page">
        {health.data === undefined ? (
          health.error === null ? (
            <Loading label={viewTexts.health.loading} />
          ) : (
            <LoadError error={health.error} onRetry={() => void health.refetch()} />
          )
        ) : (
          healthMetrics.map((measure) => (
            <MetricSection key={measure} measure={measure} health={health.data} />
          ))
        )}
      </div>
    </>
  );
}
