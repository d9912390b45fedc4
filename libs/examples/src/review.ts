/** Writes the assignments and reviewers of the examples: Nora with her agent, and Ana. */
import { newId } from '@muster/driver';
import { type Makers } from '@muster/testing/world';

const exampleIds = {
  member: '01936d5c-0000-7000-8000-000000000050',
  agent: '01936d5c-0000-7000-8000-000000000051',
} as const;

interface ReviewsSetUp {
  readonly orgId: string;
  readonly projectId: string;
  /** The ids of WEB-1 and WEB-2. */
  readonly stories: readonly string[];
  readonly anaId: string;
  readonly idOf: (exampleId: string) => string;
}

export async function arrangeReviews(
  { rows }: Makers,
  { orgId, projectId, stories: [first, second], anaId, idOf }: ReviewsSetUp,
): Promise<void> {
  const nora = idOf(exampleIds.member);
  await rows(
    `insert into members (org_id, id, email, name, handle, role) values ($1, $2, 'nora@example.com', 'Nora', 'nora', 'member')`,
    orgId,
    nora,
  );
  await rows(
    `insert into project_members (org_id, project_id, member_id, role) values ($1, $2, $3, 'contributor')`,
    orgId,
    projectId,
    nora,
  );
  await rows(
    `insert into agents (org_id, id, member_id, name) values ($1, $2, $3, 'Scribe')`,
    orgId,
    idOf(exampleIds.agent),
    nora,
  );
  await rows(
    `insert into assignments (org_id, target_type, target_id, project_id, member_id) values ($1, 'story', $2, $3, $4)`,
    orgId,
    second,
    projectId,
    nora,
  );
  for (const [story, reviewer] of [
    [first, nora],
    [second, anaId],
  ]) {
    await rows(
      'insert into story_reviewers (org_id, id, story_id, project_id, member_id) values ($1, $2, $3, $4, $5)',
      orgId,
      newId(),
      story,
      projectId,
      reviewer,
    );
  }
}
