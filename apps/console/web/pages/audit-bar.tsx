/** Filters of the audit trail; each choice changes the URL. */
import { Link, useNavigate } from '@tanstack/react-router';
import { withFilter } from '../board/filter.ts';
import { type AuditFilter } from '../data/trail-filter.ts';
import { useActorOptions } from '../components/whose.ts';
import { activityTexts } from '../messages/activity.ts';
import { viewTexts } from '../messages/views.ts';

interface AuditBarProps {
  readonly filter: AuditFilter;
  /** Name of the chosen actor, from the listed entries. */
  readonly actorName: string | undefined;
}

export function AuditBar({ filter, actorName }: AuditBarProps) {
  const navigate = useNavigate({ from: '/audit' });
  const { actor, operation, from, to } = filter;
  const doers = useActorOptions(actor, actorName ?? activityTexts.formerly);
  const go = (field: keyof AuditFilter, value: string, replace = false): void =>
    void navigate({ search: withFilter(filter, field, value), replace });
  const day = (field: 'from' | 'to', label: string, value: string | undefined) => (
    <label className="trail-day">
      <span className="muted">{label}</span>
      <input
        className="field trail-field"
        type="date"
        value={value ?? ''}
        onChange={({ target }) => go(field, target.value, true)}
      />
    </label>
  );
  return (
    <div className="trail-bar" role="search" aria-label={viewTexts.audit.filters}>
      <input
        className="field trail-field audit-field"
        type="search"
        aria-label={viewTexts.audit.operation}
        placeholder={viewTexts.audit.placeholder}
        value={operation ?? ''}
        onChange={({ target }) => go('operation', target.value, true)}
      />
      <select
        className="field trail-field"
        aria-label={viewTexts.audit.who}
        data-chosen={actor !== undefined || undefined}
        value={actor ?? ''}
        onChange={({ target }) => go('actor', target.value)}
      >
        <option value="">{viewTexts.audit.anyone}</option>
        {doers.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      {day('from', viewTexts.audit.from, from)}
      {day('to', viewTexts.audit.to, to)}
      {Object.keys(filter).length > 0 && (
        <Link to="/audit" search={{}} className="button" data-kind="quiet">
          {viewTexts.audit.clear}
        </Link>
      )}
    </div>
  );
}
