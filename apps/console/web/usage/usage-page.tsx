/** The page of usage: what the runs of agents cost over time, and by story, agent, model and other groups. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { type UsageGrouping, type UsageSum } from '@muster/contract';
import { useClient, useIdentity } from '../data/context.ts';
import { agentsQuery } from '../data/people-queries.ts';
import { projectsQuery } from '../data/queries.ts';
import { dayMs, serverNow, utcWeekStart, weekMs } from '../data/time.ts';
import { Icon } from '../components/icons.tsx';
import { lazyComponent } from '../components/lazily.ts';
import { NextPageButton } from '../components/next-page.tsx';
import { EmptyState, LoadError, Loading } from '../components/states.tsx';
import { useTitle } from '../components/title.ts';
import { formatDay, t } from '../messages/index.ts';
import { formatMicros, formatTokens, usageTexts } from '../messages/usage.ts';
import { withFilter } from '../board/filter.ts';
import { useMayConnectAgents } from '../settings/rights.ts';
import { Outcomes } from './outcomes.tsx';
import { rangeStart, type UsageFilter, usageSumsQuery, usageTableQuery } from './usage-queries.ts';
import { parseUsageSearch, type UsageSearch, usageRanges } from './usage-search.ts';

const Chart = lazyComponent(
  () => import('../pages/chart.tsx'),
  () => <div className="chart skeleton" />,
);
const usageRoute = getRouteApi('/usage');
const groupings = Object.keys(usageTexts.groupings) as UsageGrouping[];
/** Longer ranges are drawn by the week. */
const maxDaysByDay = 90;

const filterOf = ({ project, story, agent }: UsageSearch): UsageFilter => ({
  ...(project !== undefined && { project }),
  ...(story !== undefined && { story }),
  ...(agent !== undefined && { agent }),
});

function UsageBar({ search, days }: { readonly search: UsageSearch; readonly days: number }) {
  const client = useClient();
  const navigate = useNavigate({ from: '/usage' });
  const projects = useQuery(projectsQuery(client)).data ?? [];
  const agents = useQuery({ ...agentsQuery(client), enabled: search.agent !== undefined }).data ?? [];
  const agentName = agents.find(({ id }) => id === search.agent)?.name ?? usageTexts.anAgent;
  const select = (
    label: string,
    value: string,
    options: readonly (readonly [value: string, name: string])[],
    toSearch: (value: string) => UsageSearch,
  ) => (
    <select
      className="field trail-field"
      aria-label={label}
      value={value}
      onChange={({ target }) => void navigate({ search: toSearch(target.value) })}
    >
      {options.map(([id, name]) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
  const chip = (field: 'story' | 'agent', label: string, text: ReactNode) => (
    <Link
      to="/usage"
      search={withFilter(search, field, undefined)}
      className="button trail-chip"
      aria-label={label}
    >
      {text}
      <Icon name="close" size={12} />
    </Link>
  );
  return (
    <div className="trail-bar" role="search" aria-label={usageTexts.filters}>
      {select(
        usageTexts.range,
        String(days),
        usageRanges.map((range) => [String(range), usageTexts.days(range)]),
        (value) => ({ ...search, days: Number(value) }),
      )}
      {select(
        usageTexts.groupBy,
        search.by ?? 'story',
        groupings.map((grouping) => [grouping, usageTexts.by(usageTexts.groupings[grouping])]),
        (value) => ({ ...search, by: value as UsageGrouping }),
      )}
      {select(
        usageTexts.project,
        search.project ?? '',
        [['', usageTexts.allProjects], ...projects.map(({ key, name }) => [key, name] as const)],
        (value) => withFilter(search, 'project', value),
      )}
      {search.story !== undefined &&
        chip('story', usageTexts.onlyStory(search.story), <span className="key">{search.story}</span>)}
      {search.agent !== undefined && chip('agent', usageTexts.onlyAgent(agentName), agentName)}
    </div>
  );
}

type UsageTotals = Omit<UsageSum, 'key' | 'costPerLanded'>;

/** Adds up sums per project, whose runs and stories do not overlap. Returns one total per currency, highest first. */
function totalsOf(sums: readonly UsageSum[]): UsageTotals[] {
  const totals = new Map<string, UsageTotals>();
  for (const sum of sums) {
    const before = totals.get(sum.currency);
    totals.set(sum.currency, {
      currency: sum.currency,
      runs: sum.runs + (before?.runs ?? 0),
      landed: sum.landed + (before?.landed ?? 0),
      costMicros: sum.costMicros + (before?.costMicros ?? 0),
      inputTokens: sum.inputTokens + (before?.inputTokens ?? 0),
      outputTokens: sum.outputTokens + (before?.outputTokens ?? 0),
      cachedTokens: sum.cachedTokens + (before?.cachedTokens ?? 0),
    });
  }
  return [...totals.values()].toSorted((one, other) => other.costMicros - one.costMicros);
}

const formatCostPerLanded = ({ costMicros, landed, currency }: UsageTotals): string =>
  landed === 0 ? usageTexts.none : formatMicros(Math.round(costMicros / landed), currency);

function UsageFigures({ totals }: { readonly totals: readonly UsageTotals[] }) {
  const figure = (name: string, format: (total: UsageTotals) => string) => (
    <div className="figure">
      <dt className="muted">{name}</dt>
      {totals.map((total) => (
        <dd key={total.currency} className="tabular">
          {format(total)}
        </dd>
      ))}
    </div>
  );
  return (
    <dl className="figures">
      {figure(usageTexts.cost, ({ costMicros, currency }) => formatMicros(costMicros, currency))}
      {figure(usageTexts.costPerLanded, formatCostPerLanded)}
      {figure(usageTexts.landed, ({ landed }) => landed.toLocaleString())}
      {figure(usageTexts.runs, ({ runs }) => runs.toLocaleString())}
      {figure(usageTexts.tokensIn, ({ inputTokens, cachedTokens }) =>
        formatTokens(inputTokens + cachedTokens),
      )}
      {figure(usageTexts.tokensOut, ({ outputTokens }) => formatTokens(outputTokens))}
    </dl>
  );
}

const toDay = (millis: number): string => new Date(millis).toISOString().slice(0, 10);

interface UsageChartProps {
  readonly sums: readonly UsageSum[];
  readonly currency: string;
  readonly days: number;
  readonly isByWeek: boolean;
}

function UsageChart({ sums, currency, days, isByWeek }: UsageChartProps) {
  const data = useMemo(() => {
    const costs = new Map(
      sums
        .filter((sum) => sum.currency === currency)
        .map(({ key, costMicros }) => [key.name, costMicros] as const),
    );
    const now = serverNow();
    const first = rangeStart(days, now);
    const stepMs = isByWeek ? weekMs : dayMs;
    const start = isByWeek ? utcWeekStart(first) : first;
    const shownDays = Array.from({ length: Math.floor((now - start) / stepMs) + 1 }, (_, nth) =>
      toDay(start + nth * stepMs),
    );
    return {
      // The chart labels times in the reader's time zone, and these days are days in UTC.
      times: shownDays.map((day) => Date.parse(`${day}T00:00`) / 1_000),
      series: [shownDays.map((day) => costs.get(day) ?? 0)],
      formatValue: (micros: number) => formatMicros(micros, currency),
    };
  }, [sums, currency, days, isByWeek]);
  return <Chart label={usageTexts.chart(currency, isByWeek)} minTop={10_000} isBars {...data} />;
}

const useUsageSearch = () => usageRoute.useSearch({ select: parseUsageSearch, structuralSharing: true });

function GroupName({ sum: { key }, by }: { readonly sum: UsageSum; readonly by: UsageGrouping }) {
  const search = useUsageSearch();
  const projects = useQuery(projectsQuery(useClient())).data ?? [];
  if (by === 'day') return formatDay(key.name);
  if (by === 'week') return usageTexts.weekOf(formatDay(key.name));
  if (key.id === null) return <span className="muted">{key.name}</span>;
  const [, storyKey] = /^([A-Z][A-Z\d]*-\d+) /.exec(key.name) ?? [];
  if (by === 'story' && storyKey !== undefined)
    return (
      <Link to="/s/$storyKey" params={{ storyKey }} className="trail-link">
        <span className="key">{storyKey}</span> {key.name.slice(storyKey.length + 1)}
      </Link>
    );
  const projectKey = projects.find(({ id }) => id === key.id)?.key;
  const narrower: UsageSearch | undefined =
    by === 'agent'
      ? { ...search, by: 'story', agent: key.id }
      : by === 'project' && projectKey !== undefined
        ? { ...search, by: 'story', project: projectKey }
        : undefined;
  return narrower === undefined ? (
    key.name
  ) : (
    <Link to="/usage" search={narrower} className="trail-link" aria-label={usageTexts.showOf(key.name)}>
      {key.name}
    </Link>
  );
}

interface UsageTableProps {
  readonly by: UsageGrouping;
  readonly filter: UsageFilter;
  readonly days: number;
}

function UsageTable({ by, filter, days }: UsageTableProps) {
  const table = useInfiniteQuery(usageTableQuery(useClient(), by, filter, days));
  if (table.data === undefined)
    return table.error === null ? (
      <Loading label={usageTexts.loading} rows={3} />
    ) : (
      <LoadError error={table.error} onRetry={() => void table.refetch()} />
    );
  const sums = table.data.pages.flatMap(({ items }) => items);
  // Amounts of different currencies cannot be compared.
  const highestOf = (currency: string): number =>
    Math.max(1, ...sums.filter((sum) => sum.currency === currency).map(({ costMicros }) => costMicros));
  const heads = [
    ...[usageTexts.cost, usageTexts.costPerLanded, usageTexts.landed, usageTexts.runs],
    ...[usageTexts.tokensIn, usageTexts.cached, usageTexts.tokensOut],
  ];
  const label = usageTexts.table(usageTexts.groupings[by]);
  return (
    <>
      <div className="wide" tabIndex={0} role="region" aria-label={label}>
        <table className="table table-slim usage-table">
          <thead>
            <tr>
              <th scope="col">{usageTexts.groupings[by]}</th>
              {heads.map((head) => (
                <th key={head} scope="col" className="number">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {sums.map((sum) => (
              <tr key={`${sum.key.id} ${sum.currency}`}>
                <th scope="row" className="usage-name">
                  <GroupName sum={sum} by={by} />
                  <div className="share" aria-hidden="true">
                    <span style={{ inlineSize: `${(100 * sum.costMicros) / highestOf(sum.currency)}%` }} />
                  </div>
                </th>
                {[
                  formatMicros(sum.costMicros, sum.currency),
                  formatCostPerLanded(sum),
                  sum.landed.toLocaleString(),
                  sum.runs.toLocaleString(),
                  formatTokens(sum.inputTokens),
                  formatTokens(sum.cachedTokens),
                  formatTokens(sum.outputTokens),
                ].map((value, nth) => (
                  <td key={heads[nth]} className="tabular number">
                    {value}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <NextPageButton query={table} name={usageTexts.more} />
      <p className="muted">{usageTexts.landedHint}</p>
    </>
  );
}

function NoUsage() {
  const mayConnect = useMayConnectAgents();
  return (
    <EmptyState title={usageTexts.empty}>
      <p>{usageTexts.emptyWhy}</p>
      {mayConnect && (
        <Link to="/connect-agent" className="button">
          {t.nav.connectAgent}
        </Link>
      )}
    </EmptyState>
  );
}

export function UsagePage() {
  useTitle(usageTexts.title);
  const client = useClient();
  const { agent, member } = useIdentity();
  const search = useUsageSearch();
  const { by = 'story', days = 30 } = search;
  const filter = filterOf(search);
  const isByWeek = days > maxDaysByDay;
  const byProject = useQuery(usageSumsQuery(client, 'project', filter, days));
  const byTime = useQuery(usageSumsQuery(client, isByWeek ? 'week' : 'day', filter, days));
  const totals = totalsOf(byProject.data ?? []);
  const [main] = totals;
  const error = byProject.error ?? byTime.error;
  return (
    <>
      <header className="page-head">
        <h1>{usageTexts.title}</h1>
        <span className="grow" />
        {agent === null && member.role !== 'viewer' && (
          <Link to="/settings/$section" params={{ section: 'budgets' }} className="button">
            {usageTexts.budgets}
          </Link>
        )}
      </header>
      <div className="page">
        <UsageBar search={search} days={days} />
        {byProject.data === undefined || byTime.data === undefined ? (
          error === null ? (
            <Loading label={usageTexts.loading} />
          ) : (
            <LoadError
              error={error}
              onRetry={() => void Promise.all([byProject.refetch(), byTime.refetch()])}
            />
          )
        ) : main === undefined ? (
          <NoUsage />
        ) : (
          <div className="usage">
            <UsageFigures totals={totals} />
            <UsageChart sums={byTime.data} currency={main.currency} days={days} isByWeek={isByWeek} />
            {totals.length > 1 && <p className="muted">{usageTexts.otherCurrencies(main.currency)}</p>}
            <UsageTable by={by} filter={filter} days={days} />
          </div>
        )}
        {search.story === undefined && search.agent === undefined && (
          <Outcomes project={search.project} days={days} />
        )}
      </div>
    </>
  );
}
