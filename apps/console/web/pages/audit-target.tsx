/** The target of an audit entry, shown by its name or key, or by its kind and the end of its id. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type AuditEntry } from '@muster/contract';
import { useClient, useIdentity } from '../data/context.ts';
import { agentsQuery, membersQuery } from '../data/people-queries.ts';
import { projectsQuery } from '../data/queries.ts';
import {
  connectionsQuery,
  forgesQuery,
  invitationsQuery,
  providersQuery,
  teamsQuery,
  tokensQuery,
  webhooksQuery,
} from '../settings/queries.ts';
import { viewTexts } from '../messages/views.ts';

const isStoryKey = (target: string): boolean => /^[A-Z][A-Z\d]*-\d+$/i.test(target);
const isUuid = (target: string): boolean => /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(target);
/** Namespaces whose operations take a story as their first parameter. */
const storyNamespaces: ReadonlySet<string> = new Set([
  ...['stories', 'storySpec', 'storyGit', 'storyUpstream', 'storyCollaboration', 'reviewers'],
]);

const namespaceOf = (operation: string): string => operation.split('.')[0] ?? '';

/** Returns records of the settings by id, and fetches them only if an entry is about one of them. */
function useSettingsNames(entries: readonly AuditEntry[]): (readonly [id: string, name: string])[] {
  const client = useClient();
  const namespaces = new Set(entries.map(({ operation }) => namespaceOf(operation)));
  const webhooks = useQuery({ ...webhooksQuery(client), enabled: namespaces.has('webhooks') }).data ?? [];
  const forges = useQuery({ ...forgesQuery(client), enabled: namespaces.has('forges') }).data ?? [];
  const connections = useQuery({ ...connectionsQuery(client), enabled: namespaces.has('connections') });
  const invitations = useQuery({ ...invitationsQuery(client), enabled: namespaces.has('invitations') });
  const providers = useQuery({ ...providersQuery(client), enabled: namespaces.has('identityProviders') });
  return [
    // The path of the URL may contain a secret.
    ...webhooks.map(({ id, url }) => [id, new URL(url).host] as const),
    ...[...forges, ...(providers.data?.items ?? [])].map(({ id, name }) => [id, name] as const),
    ...(connections.data ?? []).map((one) => [one.id, one.client.name] as const),
    ...(invitations.data ?? []).map(({ id, email }) => [id, email] as const),
  ];
}

/** Returns the names of ids in the audit trail, as far as the console knows them. */
export function useNamesById(entries: readonly AuditEntry[]): ReadonlyMap<string, string> {
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
    ...useSettingsNames(entries),
    ...records.map(({ id, name }) => [id, name] as const),
    ...projects.map(({ key, name }) => [key, name] as const),
  ]);
}

/** Links to a story by its key and title. A story that was deleted or is not visible has neither. */
function StoryTarget({ target }: { readonly target: string }) {
  const client = useClient();
  const { data: story } = useQuery({
    queryKey: ['audit', 'story', target],
    queryFn: async () => (await client.stories.get({ storyId: target })).story,
  });
  return (
    <Link
      to="/s/$storyKey"
      params={{ storyKey: story?.key ?? target }}
      className="trail-link muted table-target"
    >
      {story === undefined
        ? isStoryKey(target)
          ? target
          : viewTexts.audit.story
        : `${story.key} ${story.title}`}
    </Link>
  );
}

interface AuditTargetProps {
  readonly target: string;
  readonly operation: string;
  readonly names: ReadonlyMap<string, string>;
}

export function AuditTarget({ target, operation, names }: AuditTargetProps) {
  const name = names.get(target);
  const namespace = namespaceOf(operation);
  const isStory = isStoryKey(target) || (isUuid(target) && storyNamespaces.has(namespace));
  if (name === undefined && isStory) return <StoryTarget target={target} />;
  return (
    <span className="muted table-target" title={target}>
      {name ??
        (isUuid(target)
          ? viewTexts.audit.record(viewTexts.audit.kinds[namespace], target.slice(-6))
          : target)}
    </span>
  );
}
