export * from './kernel/access.ts';
export * from './kernel/api-error.ts';
export * from './kernel/errors.ts';
export { plainIssueMessages, describeIssue } from './kernel/issue-words.ts';
export * from './kernel/events.ts';
export * from './kernel/operation.ts';
export * from './kernel/pagination.ts';
export { parseWith } from './kernel/parse.ts';
export * from './kernel/path.ts';
export { type PersonPath } from './kernel/person-params.ts';
export * from './kernel/reasons.ts';
export * from './kernel/rights.ts';
export * from './kernel/short-lists.ts';
export * from './kernel/untrusted-json.ts';
export * from './inside.ts';
export * from './scim.ts';
export {
  Id,
  isCleanText,
  isUuid,
  type PersonKind,
  hasVisibleCharacter,
  normalizeLineFeeds,
  textWithinBytes,
} from './kernel/values.ts';
export * from './records/access.ts';
export * from './records/archive.ts';
export * from './records/archive-import.ts';
export * from './records/billing.ts';
export * from './records/broadcast.ts';
export * from './records/card.ts';
export * from './records/catalog.ts';
export * from './records/code.ts';
export * from './records/assignment.ts';
export * from './records/comment.ts';
export * from './records/conflict.ts';
export * from './records/connection.ts';
export * from './records/context.ts';
export * from './records/contract.ts';
export * from './records/device.ts';
export * from './records/execution.ts';
export * from './records/export.ts';
export * from './records/found.ts';
export * from './records/forge.ts';
export * from './records/git.ts';
export * from './records/group.ts';
export * from './records/health.ts';
export * from './records/identity-provider.ts';
export * from './records/inbox.ts';
export * from './records/import.ts';
export * from './records/invitation.ts';
export * from './records/lock.ts';
export * from './records/member.ts';
export * from './records/code-places.ts';
export * from './records/merge-proof.ts';
export * from './records/notification.ts';
export * from './records/ocsf.ts';
export * from './records/org.ts';
export * from './records/passkey.ts';
export * from './records/platform.ts';
export * from './records/points.ts';
export * from './records/project.ts';
export * from './records/prompt.ts';
export * from './records/review.ts';
export * from './records/run.ts';
export * from './records/story.ts';
export * from './records/story-plan.ts';
export * from './records/attachment.ts';
export * from './records/changes.ts';
export * from './records/target.ts';
export * from './records/team.ts';
export * from './records/session.ts';
export * from './records/token.ts';
export * from './records/trail.ts';
export * from './records/view.ts';
export * from './records/usage.ts';
export * from './records/agent-record.ts';
export * from './records/webhook.ts';
export * from './registry.ts';
export { updateOneOfMany } from './namespaces/stories-bulk.ts';
export { logoSvg } from './mark.ts';
export { meaningOfParameter, parameterMeanings } from './meanings.ts';
export { interfaceVersion } from './interface-version.ts';
export { productVersion } from './version.generated.ts';
