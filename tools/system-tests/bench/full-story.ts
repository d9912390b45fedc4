import { type Pool } from '@muster/driver';
import { type BenchOrg, description } from './data.ts';

const specBytes = 200 * 1024;
const threads = 30;
const repliesPerThread = 9;
const locks = 50;
const files = 40;

/** Returns the organization's story that has an unusually large amount of content. */
export function fullStoryOf({ still }: BenchOrg): string {
  const [storyId] = still.storyIds;
  if (storyId === undefined) throw new Error('the still project has no stories');
  return storyId;
}

/**
 * Gives the story a spec of 200 KiB and 300 comments. Its work names files, and other holders have 50 locks,
 * some on these files. Uses SQL, because no one needs to be notified.
 */
export async function fillStory(owner: Pool, org: BenchOrg): Promise<void> {
  const storyId = fullStoryOf(org);
  const paragraphs = Math.ceil(specBytes / description('0000').length);
  const spec = Array.from({ length: paragraphs }, (_, index) => description(`part ${index}`)).join('\n');
  await owner.query(
    `insert into story_specs (org_id, story_id, version, content, content_hash, lines_added, lines_removed, author)
     values ($1, $2, 1, $3, '', 1, 0, $4)`,
    [org.orgId, storyId, spec.slice(0, specBytes), org.actor],
  );
  await owner.query('update stories set spec_version = 1 where org_id = $1 and id = $2', [
    org.orgId,
    storyId,
  ]);
  await owner.query(
    `with roots as (
       insert into comments (org_id, id, story_id, kind, body, author, author_member_id)
       select $1, uuidv7(), $2, 'question', $3, $4, $5 from generate_series(1, $6::int) returning id)
     insert into comments (org_id, id, story_id, parent_id, kind, body, author, author_member_id)
     select $1, uuidv7(), $2, r.id, 'comment', $3, $4, $5 from roots r, generate_series(1, $7::int)`,
    [org.orgId, storyId, description('the thread'), org.actor, org.actor.memberId, threads, repliesPerThread],
  );
  await owner.query(
    `insert into locks (org_id, id, project_id, resources, mode, holder, member_id, fencing_token, expires_at)
     select $1, uuidv7(), s.project_id, array['src/module' || n || '/**', '**/part' || n || '*.sql', 'name:step-' || n],
       'exclusive', $3, $4, n, now() + interval '1 day'
     from stories s, generate_series(1, $5::int) n where s.org_id = $1 and s.id = $2`,
    [org.orgId, storyId, org.actor, org.actor.memberId, locks],
  );
  await owner.query(
    `insert into executions (org_id, id, project_id, target_type, target_id, state, epoch, checkpoint, checkpoint_seq)
     select $1, uuidv7(), s.project_id, 'story', s.id, 'available', 0, jsonb_build_object('seq', 1, 'summary', 'Half',
       'nextSteps', '[]'::jsonb, 'filesTouched', (select jsonb_agg('src/module' || n * 2 || '/index.ts')
         from generate_series(1, $3::int) n), 'headSha', null, 'pushed', false, 'data', null,
       'at', '2026-11-21T09:30:00.000Z'), 1
     from stories s where s.org_id = $1 and s.id = $2`,
    [org.orgId, storyId, files],
  );
}
