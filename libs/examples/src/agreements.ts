/**
 * Writes the agreements of the examples' organization: the prompt "start" of the organization and of the
 * project, and a contract.
 */
import { newId } from '@muster/driver';
import { type Makers } from '@muster/testing/world';

interface AgreementsSetUp {
  readonly orgId: string;
  readonly projectId: string;
  /** The id of WEB-1. */
  readonly storyId: string | undefined;
  /** The actor as JSON. */
  readonly author: string;
}

export async function arrangeAgreements(
  world: Makers,
  { orgId, projectId, storyId, author }: AgreementsSetUp,
): Promise<void> {
  for (const owner of [null, projectId]) {
    await world.rows(
      `insert into prompts (org_id, id, project_id, slug, title, body, created_by, updated_by)
       values ($1, $2, $3, 'start', 'Start', 'Read the spec first.', $4, $4)`,
      orgId,
      newId(),
      owner,
      author,
    );
  }
  const contract = newId();
  await world.rows(
    `insert into contracts (org_id, id, project_id, slug, version) values ($1, $2, $3, 'clock-api', 1)`,
    orgId,
    contract,
    projectId,
  );
  await world.rows(
    `insert into contract_versions (org_id, contract_id, version, project_id, kind, content, content_hash, story_id, published_by)
     values ($1, $2, 1, $3, 'markdown', '# Clock', 'hash', $4, $5)`,
    orgId,
    contract,
    projectId,
    storyId,
    author,
  );
  await world.rows(
    `insert into contract_stories (org_id, story_id, slug, contract_id, project_id) values ($1, $2, 'clock-api', $3, $4)`,
    orgId,
    storyId,
    contract,
    projectId,
  );
}
