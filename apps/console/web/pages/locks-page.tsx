/**
 * The page of the locks of a project: a tree, and a form that checks whether a path is free. For a conflict
 * it shows the holder and a path that both locks match.
 */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { isRefusal, MusterError } from '@muster/client';
import { type Lock, type LockConflict, type Project } from '@muster/contract';
import { useClient, useIdentity } from '../data/context.ts';
import { locksQuery } from '../data/queries.ts';
import { useNow } from '../components/clock.tsx';
import { showNotice, errorText } from '../components/notices.tsx';
import { Avatar, actorNameOf } from '../components/people.tsx';
import { EmptyState, LoadError, Loading } from '../components/states.tsx';
import { useTitle } from '../components/title.ts';
import { ResourceTree } from '../components/tree.tsx';
import { useWriteCall } from '../components/write.ts';
import { formatDuration, t } from '../messages/index.ts';
import { lockTexts } from '../messages/locks.ts';
import { projectQuery } from '../settings/queries.ts';
import { ProjectPageHeader } from './project-head.tsx';

const locksRoute = getRouteApi('/p/$projectKey/locks');

function LockRow({ lock, isLead }: { readonly lock: Lock; readonly isLead: boolean }) {
  const { locks } = useClient();
  const { member } = useIdentity();
  const write = useWriteCall({ queryKeys: [['work', 'locks']], failureTitle: lockTexts.notFreed });
  const now = useNow();
  const { id: lockId, holder, mode, reason, storyId, expiresAt } = lock;
  return (
    <span className="lock lock-line">
      <Avatar name={holder.name} kind={holder.kind} />
      <span>
        {lockTexts.of(actorNameOf(holder), formatDuration(Date.parse(expiresAt) - now))}
        {mode === 'shared' && ` · ${lockTexts.shared}`}
        {reason !== null && ` · ${reason}`}
      </span>
      {storyId !== null && (
        <Link to="/s/$storyKey" params={{ storyKey: storyId }} className="side-link">
          {lockTexts.story}
        </Link>
      )}
      {(isLead || holder.memberId === member.id) && (
        <button
          type="button"
          className="button"
          data-kind="quiet"
          onClick={() => void write(() => locks.release({ lockId }))}
        >
          {lockTexts.free}
          <span className="sr-only"> {lock.resources.join(', ')}</span>
        </button>
      )}
    </span>
  );
}

function LockCheckForm({ projectId }: { readonly projectId: string }) {
  const { locks } = useClient();
  const [resource, setResource] = useState('');
  const [found, setFound] = useState<{ of: string; conflicts: readonly LockConflict[] } | null>(null);
  const ask = async (): Promise<void> => {
    const of = resource.trim();
    try {
      const { conflicts } = await locks.acquire({ projectId, resources: [of], dryRun: true });
      setFound({ of, conflicts });
    } catch (error) {
      setFound(null);
      const body =
        error instanceof MusterError && isRefusal(error, 'invalid_params')
          ? lockTexts.noPath
          : errorText(error);
      showNotice({ tone: 'bad', title: lockTexts.notAsked, body });
    }
  };
  return (
    <form
      className="form-line"
      onSubmit={(event) => {
        event.preventDefault();
        if (resource.trim() !== '') void ask();
      }}
    >
      <input
        className="field mono grow"
        aria-label={lockTexts.path}
        placeholder={lockTexts.pathHint}
        maxLength={512}
        value={resource}
        onChange={({ target }) => setResource(target.value)}
      />
      <button type="submit" className="button">
        {lockTexts.ask}
      </button>
      <div className="lock-answer" role="status">
        {found?.conflicts.length === 0 && (
          <p className="state" data-tone="good">
            {lockTexts.isFree(found.of)}
          </p>
        )}
        {found !== null && found.conflicts.length > 0 && (
          <>
            <p className="state" data-tone="wait">
              {lockTexts.isHeld(found.of)}
            </p>
            <ul className="side-list">
              {found.conflicts.map(({ lock, heldResource, witness }) => (
                <li key={`${lock.id} ${heldResource}`}>
                  {lockTexts.witness(actorNameOf(lock.holder))} <code>{witness}</code>
                  <span className="muted">
                    {' '}
                    {lockTexts.by} <code>{heldResource}</code>
                  </span>
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
    </form>
  );
}

function ProjectLocks({ project }: { readonly project: Project }) {
  const locks = useQuery(locksQuery(useClient(), project.id));
  const { agent } = useIdentity();
  if (locks.isError) return <LoadError error={locks.error} onRetry={() => void locks.refetch()} />;
  if (locks.isPending) return <Loading label={lockTexts.loading} rows={2} />;
  if (locks.data.length === 0)
    return (
      <EmptyState title={lockTexts.none}>
        <p>{lockTexts.noneWhy}</p>
      </EmptyState>
    );
  return (
    <ResourceTree
      locks={locks.data}
      renderLock={(lock) => (
        <LockRow key={lock.id} lock={lock} isLead={agent === null && project.myRole === 'lead'} />
      )}
    />
  );
}

export function LocksPage() {
  const projectKey = locksRoute.useParams().projectKey.toUpperCase();
  useTitle(`${projectKey} · ${t.board.locks}`);
  const project = useQuery(projectQuery(useClient(), projectKey));
  if (project.isError)
    return <LoadError isPage error={project.error} onRetry={() => void project.refetch()} />;
  return (
    <>
      <ProjectPageHeader projectKey={projectKey} title={t.board.locks} />
      <div className="page">
        <div className="page-column group">
          {project.data === undefined ? (
            <Loading label={lockTexts.loading} />
          ) : (
            <>
              <p className="muted">{lockTexts.intro}</p>
              {project.data.myRole !== 'viewer' && project.data.archivedAt === null && (
                <LockCheckForm projectId={project.data.id} />
              )}
              <ProjectLocks project={project.data} />
            </>
          )}
        </div>
      </div>
    </>
  );
}
