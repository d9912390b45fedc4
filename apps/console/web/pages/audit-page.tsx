/** The audit page for admins: calls that were made and calls that were refused. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Fragment } from 'react';
import { type AuditEntry, type Project } from '@muster/contract';
import { useClient } from '../data/context.ts';
import { projectsQuery } from '../data/queries.ts';
import { withFilter } from '../board/filter.ts';
import { type AuditFilter, parseAuditFilter } from '../data/trail-filter.ts';
import { getActorOptionId } from '../components/whose.ts';
import { NextPageButton } from '../components/next-page.tsx';
import { Avatar, actorNameOf } from '../components/people.tsx';
import { EmptyState, LoadError, Loading } from '../components/states.tsx';
import { TimeAgo } from '../components/time-ago.tsx';
import { useTitle } from '../components/title.ts';
import { viewTexts } from '../messages/views.ts';
import { formatDetails } from './audit-details.ts';
import { auditQuery } from './queries.ts';
import { AuditBar } from './audit-bar.tsx';
import { AuditDownload } from './audit-download.tsx';
import { AuditTarget, useNamesById } from './audit-target.tsx';

const auditRoute = getRouteApi('/audit');

interface AuditRowProps {
  readonly entry: AuditEntry;
  readonly names: ReadonlyMap<string, string>;
  readonly filter: AuditFilter;
  readonly projects: readonly Project[];
}

const AuditRow = ({ entry, filter, projects, names }: AuditRowProps) => {
  const { actor, operation, target, outcome, reason, at, ip, details } = entry;
  return (
    <tr>
      <td className="table-who">
        <Avatar name={actor.name} kind={actor.kind} />{' '}
        <Link
          to="/audit"
          search={withFilter(filter, 'actor', getActorOptionId(actor))}
          className="trail-link"
          title={viewTexts.audit.onlyBy(actorNameOf(actor))}
        >
          {actorNameOf(actor)}
        </Link>
      </td>
      <td>
        <Link
          to="/audit"
          search={withFilter(filter, 'operation', operation)}
          className="trail-link mono"
          title={viewTexts.audit.onlyOperation(operation)}
        >
          {operation.split('.').map((part, at) => (
            <Fragment key={at}>
              {at > 0 && (
                <>
                  .<wbr />
                </>
              )}
              {part}
            </Fragment>
          ))}
        </Link>
        {target !== null && <AuditTarget target={target} operation={operation} names={names} />}
        {details !== null && <span className="muted table-details">{formatDetails(details, projects)}</span>}
      </td>
      <td>
        <span className="state" data-tone={outcome === 'denied' ? 'bad' : 'none'}>
          {outcome === 'denied' ? viewTexts.audit.refused(reason) : viewTexts.audit.allowed}
        </span>
      </td>
      <td className="muted tabular table-where">{ip}</td>
      <td className="muted tabular number">
        <TimeAgo at={at} />
      </td>
    </tr>
  );
};

interface AuditTableProps {
  readonly entries: readonly AuditEntry[];
  readonly filter: AuditFilter;
  readonly projects: readonly Project[];
  readonly names: ReadonlyMap<string, string>;
}

const AuditTable = ({ entries, filter, projects, names }: AuditTableProps) => (
  // The table is focusable, so that keyboard users can scroll it sideways on small screens.
  <div className="wide" tabIndex={0} role="region" aria-label={viewTexts.audit.title}>
    <table className="table table-audit">
      <thead>
        <tr>
          {[viewTexts.audit.who, viewTexts.audit.what, viewTexts.audit.outcome, viewTexts.audit.where].map(
            (name) => (
              <th
                key={name}
                scope="col"
                className={name === viewTexts.audit.where ? 'table-where' : undefined}
              >
                {name}
              </th>
            ),
          )}
          <th scope="col" className="number">
            {viewTexts.audit.when}
          </th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <AuditRow key={entry.id} entry={entry} filter={filter} projects={projects} names={names} />
        ))}
      </tbody>
    </table>
  </div>
);

export function AuditPage() {
  useTitle(viewTexts.audit.title);
  const filter = auditRoute.useSearch({ select: parseAuditFilter, structuralSharing: true });
  const client = useClient();
  const audit = useInfiniteQuery(auditQuery(client, filter));
  const projects = useQuery(projectsQuery(client)).data ?? [];
  const items = audit.data?.pages.flatMap((page) => page.items) ?? [];
  const names = useNamesById(items);
  const { outcome } = filter;
  const isNarrowed = Object.keys(filter).length > 0;
  const actorName = items.find(({ actor }) => getActorOptionId(actor) === filter.actor)?.actor.name;
  return (
    <>
      <header className="page-head">
        <h1>{viewTexts.audit.title}</h1>
        <span className="grow" />
        <AuditDownload filter={filter} />
        <nav className="tabs" aria-label={viewTexts.audit.outcome}>
          <Link
            to="/audit"
            search={withFilter(filter, 'outcome', 'denied')}
            className="tab"
            aria-current={outcome === 'denied' ? 'page' : undefined}
          >
            {viewTexts.audit.denied}
          </Link>
          <Link
            to="/audit"
            search={withFilter(filter, 'outcome', undefined)}
            activeOptions={{ exact: true, includeSearch: true }}
            className="tab"
            aria-current={outcome === undefined ? 'page' : undefined}
          >
            {viewTexts.audit.all}
          </Link>
        </nav>
      </header>
      <div className="page">
        <AuditBar filter={filter} actorName={actorName} />
        {audit.isError && <LoadError error={audit.error} onRetry={() => void audit.refetch()} />}
        {audit.isPending && <Loading label={viewTexts.audit.loading} />}
        {audit.isSuccess && items.length === 0 && (
          <EmptyState title={viewTexts.audit.empty}>
            {isNarrowed && (
              <>
                <p>{viewTexts.audit.emptyWhy}</p>
                <Link to="/audit" search={{}} className="button">
                  {viewTexts.audit.clear}
                </Link>
              </>
            )}
          </EmptyState>
        )}
        {items.length > 0 && <AuditTable entries={items} filter={filter} projects={projects} names={names} />}
        <NextPageButton query={audit} name={viewTexts.audit.older} />
      </div>
    </>
  );
}
