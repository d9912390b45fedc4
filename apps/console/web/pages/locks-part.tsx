/**
 * The locks of a project as a tree, and a form that checks whether a path is free. For a conflict it shows
 * the holder and a path that both locks match.
 */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { isRefusal, MusterError } from '@muster/client';
import { type Lock, type LockConflict, type Project } from '@muster/registry';
import { useClient, useIdentity } from '../data/context.ts';
import { locksQuery } from '../data/queries.ts';
import { useNow } from '../components/clock.tsx';
import { showNotice, errorText } from '../components/notices.tsx';
import { Avatar, actorNameOf } from '../components/people.tsx';
import { LoadError, Loading } from '../components/states.tsx';
import { ResourceTree } from '../components/tree.tsx';
import { useWriteCall } from '../components/write.ts';
import { formatDuration } from '../messages/index.ts';
import { lockTexts } from '../messages/locks.ts';

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

export function ProjectLocks({ project }: { readonly project: Project }) {
  const locks = useQuery(locksQuery(useClient(), project.id));
  const { agent } = useIdentity();
  const id = `locks-${project.key}`;
  return (
    <section className="group" aria-labelledby={id}>
      <h2 id={id}>{lockTexts.title(project.name)}</h2>
      {locks.isError && <LoadError error={locks.error} onRetry={() => void locks.refetch()} />}
      {locks.isPending && <Loading label={lockTexts.loading} rows={2} />}
      {locks.data?.length === 0 && <p className="muted">{lockTexts.none}</p>}
      {locks.data !== undefined && locks.data.length > 0 && (
        <ResourceTree
          locks={locks.data}
          renderLock={(lock) => (
            <LockRow key={lock.id} lock={lock} isLead={agent === null && project.myRole === 'lead'} />
          )}
        />
      )}
      {project.myRole !== 'viewer' && project.archivedAt === null && <LockCheckForm projectId={project.id} />}
    </section>
  );
}
