/** Parses addresses and milestones, which both formats of GitHub share. */
import { type JsonItem, listUnreadFieldsOfPart } from '../unread.ts';

/** Returns `acme/web#17` for the address of an issue, and undefined for any other address. */
export function parseIssueReference(address: string | null | undefined): string | undefined {
  const found = /^https?:\/\/[^/]+\/(?:repos\/)?([^/]+\/[^/]+)\/issues\/(\d+)/.exec(address ?? '');
  return found === null ? undefined : `${found[1] ?? ''}#${found[2] ?? ''}`;
}

/** True for the address of a pull request, on its page or in the REST API. */
export const isPullRequestUrl = (address: string | null | undefined): boolean =>
  /^https?:\/\/[^/]+\/(?:repos\/)?[^/]+\/[^/]+\/pulls?\/\d+/.test(address ?? '');

const knownMilestoneFields = new Set([
  ...['number', 'title', 'id', 'node_id', 'url', 'html_url', 'labels_url', 'creator', 'state'],
  ...['open_issues', 'closed_issues', 'created_at', 'updated_at', 'closed_at', 'dueOn', 'due_on'],
]);

/** Returns the due date of a milestone, as `gh` or the API writes it. */
export function getMilestoneDueDate(milestone: JsonItem): string | undefined {
  const due = milestone['dueOn'] ?? milestone['due_on'];
  return typeof due === 'string' ? due : undefined;
}

/** Lists the fields of a GitHub milestone that the epic made from it does not store. */
export const listUnimportedMilestoneFields = (milestone: JsonItem): string[] => [
  ...listUnreadFieldsOfPart('a milestone', milestone, knownMilestoneFields),
  ...(milestone['state'] === 'closed' ? ['closed state of a milestone'] : []),
];
