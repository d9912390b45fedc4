/** The page of a project's epics and delivery groups. */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { type Epic } from '@muster/contract';
import { useClient } from '../data/context.ts';
import { epicProgressQuery, projectsQuery } from '../data/queries.ts';
import { usePermissionsIn } from '../data/roles.ts';
import { useReturnFocus } from '../components/focus.ts';
import { Markdown } from '../components/markdown.tsx';
import { EditConflictNotice } from '../components/met.tsx';
import { EmptyState, LoadError, Loading } from '../components/states.tsx';
import { useTitle } from '../components/title.ts';
import { useLeaveConfirmation } from '../components/leaving.ts';
import { useWriteCall, type WriteCall } from '../components/write.ts';
import { ConfirmButton } from '../components/ask.tsx';
import { formatDay } from '../messages/index.ts';
import { viewTexts } from '../messages/views.ts';
import { StoryProgressBar } from './bar.tsx';
import { type EpicEdits, EpicForm, useEpicEdits } from './epic-form.tsx';
import { DeliveryGroupList } from './groups.tsx';
import { ProjectPageHeader } from './project-head.tsx';
import { groupsQuery } from './queries.ts';

const epicsRoute = getRouteApi('/p/$projectKey/epics');

function EpicSummary({ edits, projectKey }: { readonly edits: EpicEdits; readonly projectKey: string }) {
  const { displayedRecord, conflicts, save, keepTheirs } = edits;
  const { id: epicId, title, description, color, status, targetDate, progress } = displayedRecord;
  const label = viewTexts.epics.progress(progress.done, progress.total);
  return (
    <div className="row-words">
      <p className="row-line">
        {color !== null && <span className="epic-mark" style={{ background: color }} />}
        <Link to="/p/$projectKey" params={{ projectKey }} search={{ epic: epicId }} className="row-title">
          {title}
        </Link>
      </p>
      {description !== null && description !== '' && (
        <div className="epic-description">
          <Markdown text={description} parentHeadingLevel={2} />
        </div>
      )}
      <div className="row-fact">
        <span>{label}</span>
        {targetDate !== null && <span>{viewTexts.epics.by(formatDay(targetDate))}</span>}
      </div>
      <StoryProgressBar totalStories={progress.total} doneStories={progress.done} label={label} />
      {conflicts.status !== undefined && (
        <EditConflictNotice
          name={viewTexts.epics.statusOf(title)}
          theirValue={viewTexts.epics.status[conflicts.status.theirs.status]}
          ownValue={viewTexts.epics.status[conflicts.status.mine.status ?? status]}
          onKeepTheirs={() => keepTheirs('status')}
          onSaveMine={() => void save(conflicts.status?.mine ?? {})}
        />
      )}
    </div>
  );
}

interface EpicRowProps {
  readonly epic: Epic;
  readonly projectKey: string;
  readonly canWrite: boolean;
  readonly canDelete: boolean;
  readonly write: WriteCall;
}

function EpicRow({ epic, projectKey, canWrite, canDelete, write }: EpicRowProps) {
  const { epics } = useClient();
  const edits = useEpicEdits(epic, projectKey);
  const [isOpen, setOpen] = useState(false);
  const opener = useReturnFocus(isOpen);
  const { id: epicId, title, status } = edits.displayedRecord;
  if (isOpen)
    return (
      <li className="row-form">
        <EpicForm edits={edits} projectKey={projectKey} onClose={() => setOpen(false)} />
      </li>
    );
  return (
    <li className="row set-row">
      <EpicSummary edits={edits} projectKey={projectKey} />
      <div className="set-acts">
        {canWrite ? (
          <>
            <select
              className="field"
              aria-label={viewTexts.epics.statusOf(title)}
              value={status}
              onChange={({ target }) => void edits.save({ status: target.value as Epic['status'] })}
            >
              {(Object.keys(viewTexts.epics.status) as Epic['status'][]).map((one) => (
                <option key={one} value={one}>
                  {viewTexts.epics.status[one]}
                </option>
              ))}
            </select>
            <button
              ref={opener}
              type="button"
              className="button"
              data-kind="quiet"
              onClick={() => setOpen(true)}
            >
              {viewTexts.epics.edit}
              <span className="sr-only"> {title}</span>
            </button>
          </>
        ) : (
          <span className="muted">{viewTexts.epics.status[status]}</span>
        )}
        {canDelete && (
          <ConfirmButton
            actionLabel={viewTexts.epics.remove}
            subject={title}
            title={viewTexts.epics.removeTitle(title)}
            explanation={viewTexts.epics.removeWhy}
            onConfirm={() => write(() => epics.delete({ epicId }))}
          />
        )}
      </div>
    </li>
  );
}

function NewEpicForm({ projectKey, run: write }: { readonly projectKey: string; readonly run: WriteCall }) {
  const { epics } = useClient();
  const [title, setTitle] = useState('');
  const [targetDate, setDate] = useState('');
  useLeaveConfirmation(title.trim() !== '');
  const make = async (): Promise<void> => {
    const isDone = await write(() =>
      epics.create({ projectId: projectKey, title, ...(targetDate !== '' && { targetDate }) }),
    );
    if (isDone) setTitle('');
  };
  return (
    <form
      className="form-line"
      onSubmit={(event) => {
        event.preventDefault();
        void make();
      }}
    >
      <input
        className="field grow"
        required
        maxLength={300}
        aria-label={viewTexts.epics.name}
        placeholder={viewTexts.epics.name}
        value={title}
        onChange={({ target }) => setTitle(target.value)}
      />
      <input
        className="field"
        type="date"
        aria-label={viewTexts.epics.target}
        title={viewTexts.epics.target}
        value={targetDate}
        onChange={({ target }) => setDate(target.value)}
      />
      <button type="submit" className="button" data-kind="main">
        {viewTexts.epics.make}
      </button>
    </form>
  );
}

export function EpicsPage() {
  const projectKey = epicsRoute.useParams().projectKey.toUpperCase();
  const client = useClient();
  const projects = useQuery(projectsQuery(client));
  const epics = useQuery(epicProgressQuery(client, projectKey));
  const groups = useQuery(groupsQuery(client, projectKey));
  useTitle(`${viewTexts.epics.title} ${projectKey}`);
  const project = projects.data?.find(({ key }) => key === projectKey);
  const { mayWrite: canWrite, isLead: canDelete } = usePermissionsIn(project);
  const run = useWriteCall({ queryKeys: [['epics']], failureTitle: viewTexts.epics.failed });
  const error = epics.error ?? groups.error;
  return (
    <>
      <ProjectPageHeader projectKey={projectKey} title={viewTexts.epics.title} />
      <div className="page">
        <div className="page-column">
          {error !== null ? (
            <LoadError error={error} onRetry={() => void Promise.all([epics.refetch(), groups.refetch()])} />
          ) : epics.data === undefined || groups.data === undefined ? (
            <Loading label={viewTexts.epics.loading} />
          ) : (
            <>
              <section className="group" aria-labelledby="epics">
                <h2 id="epics">{viewTexts.epics.epics}</h2>
                {canWrite && <NewEpicForm projectKey={projectKey} run={run} />}
                {epics.data.length === 0 ? (
                  <EmptyState title={viewTexts.epics.empty}>
                    <p>{viewTexts.epics.emptyWhy}</p>
                  </EmptyState>
                ) : (
                  <ul className="rows">
                    {epics.data.map((epic) => (
                      <EpicRow key={epic.id} {...{ epic, projectKey, canWrite, canDelete, write: run }} />
                    ))}
                  </ul>
                )}
              </section>
              <DeliveryGroupList groups={groups.data} projectKey={projectKey} canWrite={canWrite} />
            </>
          )}
        </div>
      </div>
    </>
  );
}
