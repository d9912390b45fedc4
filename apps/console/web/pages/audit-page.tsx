/** The audit page for admins: calls that were made and calls that were refused. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Fragment } from 'react';
import { type AuditEntry, type Project } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { projectsQuery } from '../data/queries.ts';
import { type AuditFilter } from '../data/trail-filter.ts';
import { narrowed } from './trail-bounds.ts';
import { doerId } from '../components/whose.ts';
import { Avatar, nameOf } from '../components/people.tsx';
import { Empty, Failed, Loading } from '../components/states.tsx';
import { useTitle } from '../components/title.ts';
import { ago, exactly } from '../messages/index.ts';
import { v } from '../messages/views.ts';
import { detailsOf } from './audit-details.ts';
import { auditQuery } from './queries.ts';
import { AuditBar } from './audit-bar.tsx';
import { Target, useTargetNames } from './audit-target.tsx';

const route = getRouteApi('/audit');

const Entry = ({
  entry,
  filter,
  projects,
  names,
}: {
  readonly entry: AuditEntry;
  readonly names: ReadonlyMap<string, string>;
  readonly filter: AuditFilter;
  readonly projects: readonly Project[];
}) => {
  const { actor, operation, target, outcome, reason, at, ip, details } = entry;
  return (
    <tr>
      <td className="table-who">
        <Avatar name={actor.name} kind={actor.kind} />{' '}
        <Link
          to="/audit"
          search={narrowed(filter, 'actor', doerId(actor))}
          className="trail-link"
          title={v.audit.onlyBy(nameOf(actor))}
        >
          {nameOf(actor)}
        </Link>
      </td>
      <td>
        <Link
          to="/audit"
          search={narrowed(filter, 'operation', operation)}
          className="trail-link mono"
          title={v.audit.onlyOperation(operation)}
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
        {target !== null && <Target target={target} operation={operation} names={names} />}
        {details !== null && <span className="muted table-details">{detailsOf(details, projects)}</span>}
      </td>
      <td>
        <span className="state" data-tone={outcome === 'denied' ? 'bad' : 'none'}>
          {outcome === 'denied' ? v.audit.refused(reason) : v.audit.allowed}
        </span>
      </td>
      <td className="muted tabular table-where">{ip}</td>
      <td className="muted tabular number">
        <time dateTime={at} title={exactly(at)}>
          {ago(at)}
        </time>
      </td>
    </tr>
  );
};

const Entries = ({
  entries,
  filter,
  projects,
  names,
}: {
  readonly entries: readonly AuditEntry[];
  readonly filter: AuditFilter;
  readonly projects: readonly Project[];
  readonly names: ReadonlyMap<string, string>;
}) => (
  // Focusable, so that the keyboard can scroll it sideways on small screens.
  <div className="wide" tabIndex={0} role="region" aria-label={v.audit.title}>
    <table className="table table-audit">
      <thead>
        <tr>
          {[v.audit.who, v.audit.what, v.audit.outcome, v.audit.where].map((name) => (
            <th key={name} scope="col" className={name === v.audit.where ? 'table-where' : undefined}>
              {name}
            </th>
          ))}
          <th scope="col" className="number">
            {v.audit.when}
          </th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <Entry key={entry.id} entry={entry} filter={filter} projects={projects} names={names} />
        ))}
      </tbody>
    </table>
  </div>
);

export function AuditPage() {
  useTitle(v.audit.title);
  const filter = route.useSearch();
  const client = useClient();
  const audit = useInfiniteQuery(auditQuery(client, filter));
  const projects = useQuery(projectsQuery(client)).data ?? [];
  const names = useTargetNames();
  const items = audit.data?.pages.flatMap((page) => page.items) ?? [];
  const { outcome } = filter;
  const isNarrowed = Object.keys(filter).length > 0;
  const actorName = items.find(({ actor }) => doerId(actor) === filter.actor)?.actor.name;
  return (
    <>
      <header className="page-head">
        <h1>{v.audit.title}</h1>
        <span className="grow" />
        <nav className="tabs" aria-label={v.audit.outcome}>
          <Link
            to="/audit"
            search={narrowed(filter, 'outcome', 'denied')}
            className="tab"
            aria-current={outcome === 'denied' ? 'page' : undefined}
          >
            {v.audit.denied}
          </Link>
          <Link
            to="/audit"
            search={narrowed(filter, 'outcome', undefined)}
            activeOptions={{ exact: true, includeSearch: true }}
            className="tab"
            aria-current={outcome === undefined ? 'page' : undefined}
          >
            {v.audit.all}
          </Link>
        </nav>
      </header>
      <div className="page">
        <AuditBar filter={filter} actorName={actorName} />
        {audit.isError && <Failed error={audit.error} again={() => void audit.refetch()} />}
        {audit.isPending && <Loading label={v.audit.loading} />}
        {audit.isSuccess && items.length === 0 && (
          <Empty title={v.audit.empty}>
            {isNarrowed && (
              <>
                <p>{v.audit.emptyWhy}</p>
                <Link to="/audit" search={{}} className="button">
                  {v.audit.clear}
                </Link>
              </>
            )}
          </Empty>
        )}
        {items.length > 0 && <Entries entries={items} filter={filter} projects={projects} names={names} />}
        {audit.hasNextPage && (
          <button
            type="button"
            className="button"
            disabled={audit.isFetchingNextPage}
            onClick={() => void audit.fetchNextPage()}
          >
            {v.audit.older}
          </button>
        )}
      </div>
    </>
  );
}
