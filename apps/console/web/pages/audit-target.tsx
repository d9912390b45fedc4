/** The target of an audit entry, shown by its name or key, or by its kind and the end of its id. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useClient, useIdentity } from '../data/context.ts';
import { agentsQuery, membersQuery } from '../data/people-queries.ts';
import { projectsQuery } from '../data/queries.ts';
import { teamsQuery, tokensQuery } from '../settings/queries.ts';
import { viewTexts } from '../messages/views.ts';

const isStoryKey = (target: string): boolean => /^[A-Z][A-Z\d]*-\d+$/i.test(target);
const isUuid = (target: string): boolean => /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(target);
/** Namespaces whose operations take a story as their first parameter. */
const storyNamespaces: ReadonlySet<string> = new Set([
  ...['stories', 'storySpec', 'storyGit', 'storyUpstream', 'storyCollaboration', 'reviewers'],
]);

/** Returns the names of ids in the audit trail, as far as the console knows them. */
export function useNamesById(): ReadonlyMap<string, string> {
  const client = useClient();
  const { org } = useIdentity();
  const projects = useQuery(projectsQuery(client)).data ?? [];
  const members = useQuery(membersQuery(client)).data ?? [];
  const agents = useQuery(agentsQuery(client)).data ?? [];
  const teams = useQuery(teamsQuery(client)).data ?? [];
  const tokens = useQuery(tokensQuery(client)).data ?? [];
  const records = [org, ...projects, ...members, ...agents, ...teams, ...tokens];
  // Entries contain the target as its caller named it, so a project may appear by its key.
  return new Map([
    ...records.map(({ id, name }) => [id, name] as const),
    ...projects.map(({ key, name }) => [key, name] as const),
  ]);
}

interface AuditTargetProps {
  readonly target: string;
  readonly operation: string;
  readonly names: ReadonlyMap<string, string>;
}

export function AuditTarget({ target, operation, names }: AuditTargetProps) {
  const name = names.get(target);
  const [namespace = ''] = operation.split('.');
  const isStory = isStoryKey(target) || (isUuid(target) && storyNamespaces.has(namespace));
  if (name === undefined && isStory)
    return (
      <Link to="/s/$storyKey" params={{ storyKey: target }} className="trail-link muted table-target">
        {isStoryKey(target) ? target : viewTexts.audit.story}
      </Link>
    );
  return (
    <span className="muted table-target" title={target}>
      {name ??
        (isUuid(target)
          ? viewTexts.audit.record(viewTexts.audit.kinds[namespace], target.slice(-6))
          : target)}
    </span>
  );
}
