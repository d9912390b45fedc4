/** The page of a project's epics and delivery groups. */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { type Epic } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { projectsQuery, epicsQuery } from '../data/queries.ts';
import { useRoleIn } from '../data/roles.ts';
import { useFocusBack } from '../components/focus.ts';
import { Met } from '../components/met.tsx';
import { Empty, Failed, Loading } from '../components/states.tsx';
import { useTitle } from '../components/title.ts';
import { useAskBeforeLeaving } from '../components/leaving.ts';
import { useWriteOf, type Write } from '../components/write.ts';
import { Ask } from '../components/ask.tsx';
import { exactDay } from '../messages/index.ts';
import { v } from '../messages/views.ts';
import { Bar } from './bar.tsx';
import { type EpicEdits, EpicForm, useEpicEdits } from './epic-form.tsx';
import { Groups } from './groups.tsx';
import { ProjectHead } from './project-head.tsx';
import { groupsQuery } from './queries.ts';

const route = getRouteApi('/p/$projectKey/epics');

function EpicWords({ edits, projectKey }: { readonly edits: EpicEdits; readonly projectKey: string }) {
  const { shown, meetings, save, keepTheirs } = edits;
  const { id: epicId, title, description, color, status, targetDate, progress } = shown;
  const label = v.epics.progress(progress.done, progress.total);
  return (
    <div className="row-words">
      <p className="row-line">
        {color !== null && <span className="epic-mark" style={{ background: color }} />}
        <Link to="/p/$projectKey" params={{ projectKey }} search={{ epic: epicId }} className="row-title">
          {title}
        </Link>
      </p>
      {description !== '' && <p className="muted epic-description">{description}</p>}
      <div className="row-fact">
        <span>{label}</span>
        {targetDate !== null && <span>{v.epics.by(exactDay(targetDate))}</span>}
      </div>
      <Bar total={progress.total} done={progress.done} label={label} />
      {meetings.status !== undefined && (
        <Met
          name={v.epics.statusOf(title)}
          theirs={v.epics.status[meetings.status.theirs.status]}
          mine={v.epics.status[meetings.status.mine.status ?? status]}
          onTheirs={() => keepTheirs('status')}
          onMine={() => void save(meetings.status?.mine ?? {})}
        />
      )}
    </div>
  );
}

function EpicRow({
  epic,
  projectKey,
  canWrite,
  canDelete,
  run,
}: {
  readonly epic: Epic;
  readonly projectKey: string;
  readonly canWrite: boolean;
  readonly canDelete: boolean;
  readonly run: Write;
}) {
  const { epics } = useClient();
  const edits = useEpicEdits(epic, projectKey);
  const [isOpen, setOpen] = useState(false);
  const opener = useFocusBack(isOpen);
  const { id: epicId, title, status } = edits.shown;
  if (isOpen)
    return (
      <li className="row-form">
        <EpicForm edits={edits} onClose={() => setOpen(false)} />
      </li>
    );
  return (
    <li className="row set-row">
      <EpicWords edits={edits} projectKey={projectKey} />
      <div className="set-acts">
        {canWrite ? (
          <>
            <select
              className="field"
              aria-label={v.epics.statusOf(title)}
              value={status}
              onChange={({ target }) => void edits.save({ status: target.value as Epic['status'] })}
            >
              {(Object.keys(v.epics.status) as Epic['status'][]).map((one) => (
                <option key={one} value={one}>
                  {v.epics.status[one]}
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
              {v.epics.edit}
              <span className="sr-only"> {title}</span>
            </button>
          </>
        ) : (
          <span className="muted">{v.epics.status[status]}</span>
        )}
        {canDelete && (
          <Ask
            act={v.epics.remove}
            about={title}
            title={v.epics.removeTitle(title)}
            why={v.epics.removeWhy}
            run={() => run(() => epics.delete({ epicId }))}
          />
        )}
      </div>
    </li>
  );
}

function Make({ projectKey, run }: { readonly projectKey: string; readonly run: Write }) {
  const { epics } = useClient();
  const [title, setTitle] = useState('');
  const [targetDate, setDate] = useState('');
  useAskBeforeLeaving(title.trim() !== '');
  const make = async (): Promise<void> => {
    const isDone = await run(() =>
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
        aria-label={v.epics.name}
        placeholder={v.epics.name}
        value={title}
        onChange={({ target }) => setTitle(target.value)}
      />
      <input
        className="field"
        type="date"
        aria-label={v.epics.target}
        title={v.epics.target}
        value={targetDate}
        onChange={({ target }) => setDate(target.value)}
      />
      <button type="submit" className="button" data-kind="main">
        {v.epics.make}
      </button>
    </form>
  );
}

export function EpicsPage() {
  const projectKey = route.useParams().projectKey.toUpperCase();
  const client = useClient();
  const projects = useQuery(projectsQuery(client));
  const epics = useQuery(epicsQuery(client, projectKey));
  const groups = useQuery(groupsQuery(client, projectKey));
  useTitle(`${v.epics.title} ${projectKey}`);
  const project = projects.data?.find(({ key }) => key === projectKey);
  const { mayWrite: canWrite, isLead: canDelete } = useRoleIn(project);
  const run = useWriteOf({ about: [['epics', projectKey]], failed: v.epics.failed });
  const error = epics.error ?? groups.error;
  return (
    <>
      <ProjectHead projectKey={projectKey} title={v.epics.title} />
      <div className="page">
        <div className="page-column">
          {error !== null ? (
            <Failed error={error} again={() => void Promise.all([epics.refetch(), groups.refetch()])} />
          ) : epics.data === undefined || groups.data === undefined ? (
            <Loading label={v.epics.loading} />
          ) : (
            <>
              <section className="group" aria-labelledby="epics">
                <h2 id="epics">{v.epics.epics}</h2>
                {canWrite && <Make projectKey={projectKey} run={run} />}
                {epics.data.length === 0 ? (
                  <Empty title={v.epics.empty}>
                    <p>{v.epics.emptyWhy}</p>
                  </Empty>
                ) : (
                  <ul className="rows">
                    {epics.data.map((epic) => (
                      <EpicRow key={epic.id} {...{ epic, projectKey, canWrite, canDelete, run }} />
                    ))}
                  </ul>
                )}
              </section>
              <Groups groups={groups.data} projectKey={projectKey} canWrite={canWrite} />
            </>
          )}
        </div>
      </div>
    </>
  );
}
