/** Who did what, and what was refused: for admins. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { Fragment } from 'react';
import { type AuditEntry, type Project } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { projectsQuery } from '../data/queries.ts';
import { Avatar, nameOf } from '../parts/people.tsx';
import { Empty, Failed, Loading } from '../parts/states.tsx';
import { useTitle } from '../parts/title.ts';
import { ago, exactly } from '../texts/index.ts';
import { v } from '../texts/views.ts';
import { detailsOf } from './audit-details.ts';
import { auditQuery } from './queries.ts';

const route = getRouteApi('/audit');

const Entry = ({
  entry,
  projects,
}: {
  readonly entry: AuditEntry;
  readonly projects: readonly Project[];
}) => {
  const { actor, operation, target, outcome, reason, at, ip, details } = entry;
  return (
    <tr>
      <td className="table-who">
        <Avatar name={actor.name} kind={actor.kind} /> {nameOf(actor)}
      </td>
      <td>
        <code>
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
        </code>
        {target !== null && <span className="muted mono table-target">{target}</span>}
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

export function AuditPage() {
  useTitle(v.audit.title);
  const filter = route.useSearch();
  const navigate = useNavigate({ from: '/audit' });
  const client = useClient();
  const audit = useInfiniteQuery(auditQuery(client, filter));
  const projects = useQuery(projectsQuery(client)).data ?? [];
  const items = audit.data?.pages.flatMap((page) => page.items) ?? [];
  const { operation, outcome } = filter;
  const named = operation === undefined ? {} : { operation };
  return (
    <>
      <header className="page-head">
        <h1>{v.audit.title}</h1>
        <span className="grow" />
        <nav className="tabs" aria-label={v.audit.outcome}>
          <Link
            to="/audit"
            search={{ ...named, outcome: 'denied' }}
            className="tab"
            aria-current={outcome === 'denied' ? 'page' : undefined}
          >
            {v.audit.denied}
          </Link>
          <Link
            to="/audit"
            search={named}
            activeOptions={{ exact: true, includeSearch: true }}
            className="tab"
            aria-current={outcome === undefined ? 'page' : undefined}
          >
            {v.audit.all}
          </Link>
        </nav>
        <input
          className="field audit-field"
          type="search"
          aria-label={v.audit.operation}
          placeholder={v.audit.placeholder}
          defaultValue={operation ?? ''}
          onChange={({ target }) => {
            const wanted = target.value.trim();
            void navigate({
              search: {
                ...(outcome !== undefined && { outcome }),
                ...(wanted !== '' && { operation: wanted }),
              },
              replace: true,
            });
          }}
        />
      </header>
      <div className="page">
        {audit.isError && <Failed error={audit.error} again={() => void audit.refetch()} />}
        {audit.isPending && <Loading label={v.audit.loading} />}
        {audit.isSuccess && items.length === 0 && <Empty title={v.audit.empty} />}
        {items.length > 0 && (
          // What is scrolled sideways on a small screen is reached by keys.
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
                {items.map((entry) => (
                  <Entry key={entry.id} entry={entry} projects={projects} />
                ))}
              </tbody>
            </table>
          </div>
        )}
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
