/** Formats the `details` of an AuditEntry for display. */
import { type AuditEntry, type Project } from '@muster/contract';
import { joinFacts } from '../settings/components.tsx';
import { widestScope } from '../settings/rights.ts';
import { formatDay } from '../messages/index.ts';
import { viewTexts } from '../messages/views.ts';

type Details = NonNullable<AuditEntry['details']>;

interface ConnectionConsent {
  readonly client: { readonly name: string; readonly host: string | null };
  readonly agent: { readonly name: string };
  readonly scopes: readonly string[];
  /** The projects of the connection; null if it reaches everything that its member may see. */
  readonly projectIds: readonly string[] | null;
  readonly expiresAt: string;
}

const isConnectionConsent = (details: Details): details is Details & ConnectionConsent =>
  ['client', 'agent', 'scopes', 'projectIds', 'expiresAt'].every((name) => name in details);

/**
 * Returns the known names, and the number of other projects, which were deleted or are not visible to the
 * viewer.
 */
function projectNamesOf(ids: readonly string[], projects: readonly Project[]): string {
  const known = projects.filter(({ id }) => ids.includes(id)).map(({ name }) => name);
  const others = ids.length - known.length;
  return [...known, ...(others > 0 ? [viewTexts.audit.otherProjects(others)] : [])].join(', ');
}

const formatValue = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

export function formatDetails(details: Details, projects: readonly Project[]): string {
  if (!isConnectionConsent(details))
    return joinFacts(
      ...Object.entries(details).map(([name, value]) => viewTexts.audit.detail(name, formatValue(value))),
    );
  const { client, agent, scopes, projectIds, expiresAt } = details;
  return joinFacts(
    viewTexts.audit.letIn(client.name, client.host),
    viewTexts.audit.asAgent(agent.name),
    viewTexts.audit.may[widestScope(scopes)],
    projectIds === null ? viewTexts.audit.allProjects : projectNamesOf(projectIds, projects),
    viewTexts.audit.ends(formatDay(expiresAt)),
  );
}
