/** Filters of the activity; each choice changes the URL. */
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useClient } from '../data/context.ts';
import { projectsQuery } from '../data/queries.ts';
import { withFilter } from '../board/filter.ts';
import { type ActivityFilter, timeSpans } from '../data/trail-filter.ts';
import { Icon } from '../components/icons.tsx';
import { useActorOptions } from '../components/whose.ts';
import { activityTexts, eventText } from '../messages/activity.ts';
import { formatDay } from '../messages/index.ts';
import { findMatchingKinds } from './activity-query.ts';

type SelectOptions = readonly (readonly [value: string, name: string])[];

interface ActivityBarProps {
  readonly filter: ActivityFilter;
  /** Name of the chosen actor, from the listed events. */
  readonly actorName: string | undefined;
}

export function ActivityBar({ filter, actorName }: ActivityBarProps) {
  const navigate = useNavigate({ from: '/activity' });
  const projects = useQuery(projectsQuery(useClient())).data ?? [];
  const { actor, kind, project, story, since } = filter;
  const doers = useActorOptions(actor, actorName ?? activityTexts.formerly);
  const select = (field: keyof ActivityFilter, label: string, all: string, options: SelectOptions) => {
    const value = filter[field] ?? '';
    return (
      <select
        className="field trail-field"
        aria-label={label}
        data-chosen={value !== '' || undefined}
        value={value}
        onChange={({ target }) => void navigate({ search: withFilter(filter, field, target.value) })}
      >
        <option value="">{all}</option>
        {options.map(([id, name]) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    );
  };
  const isOneKind =
    kind !== undefined && !(kind in activityTexts.groups) && findMatchingKinds(kind).length > 0;
  const isDay = since !== undefined && !(since in activityTexts.spans);
  const isKey = project !== undefined && !projects.some(({ key }) => key === project);
  return (
    <div className="trail-bar" role="search" aria-label={activityTexts.filters}>
      {select(
        'actor',
        activityTexts.who,
        activityTexts.anyone,
        doers.map(({ id, name }) => [id, name]),
      )}
      {select('kind', activityTexts.what, activityTexts.anything, [
        ...(isOneKind ? [[kind, activityTexts.only(eventText(kind))] as const] : []),
        ...Object.entries(activityTexts.groups),
      ])}
      {select('project', activityTexts.where, activityTexts.anywhere, [
        ...(isKey ? [[project, project] as const] : []),
        ...projects.map(({ key, name }) => [key, name] as const),
      ])}
      {select('since', activityTexts.when, activityTexts.ever, [
        ...(isDay ? [[since, activityTexts.since(formatDay(`${since}T12:00:00`))] as const] : []),
        ...timeSpans.map((span) => [span, activityTexts.spans[span]] as const),
      ])}
      {story !== undefined && (
        <Link
          to="/activity"
          search={withFilter(filter, 'story', undefined)}
          className="button trail-chip"
          aria-label={activityTexts.notOf(story.toUpperCase())}
        >
          <span className="key">{story.toUpperCase()}</span>
          <Icon name="close" size={12} />
        </Link>
      )}
      {Object.keys(filter).length > 0 && (
        <Link to="/activity" search={{}} className="button" data-kind="quiet">
          {activityTexts.clear}
        </Link>
      )}
    </div>
  );
}
