/** Writes the attachment that the examples name. */
import { type Makers } from '@muster/testing/world';

interface AttachmentSetUp {
  readonly orgId: string;
  readonly projectId: string;
  readonly storyId: string;
  readonly memberId: string;
  /** The actor as JSON. */
  readonly author: string;
  readonly idOf: (exampleId: string) => string;
}

const attachmentId = '01936d5c-0000-7000-8000-00000000000a';

/** Inserts the attachment, and returns its id. */
export async function arrangeAttachment(
  { rows }: Makers,
  { orgId, projectId, storyId, memberId, author, idOf }: AttachmentSetUp,
): Promise<string> {
  const id = idOf(attachmentId);
  await rows(
    `insert into attachments (org_id, id, project_id, story_id, name, content_type, size, sha256, kind, state, author, author_member_id)
     values ($1, $2, $3, $4, 'sign-in.png', 'image/png', 4, repeat('a', 64), 'screenshot', 'stored', $5, $6)`,
    ...[orgId, id, projectId, storyId, author, memberId],
  );
  return id;
}
