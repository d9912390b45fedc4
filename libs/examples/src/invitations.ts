/** Writes the invitations that the examples name: a pending one for Nina, and one that expired. */
import { type Makers } from '@muster/testing/world';

const exampleIds = {
  pending: '01936d5c-0000-7000-8000-000000000030',
  expired: '01936d5c-0000-7000-8000-000000000031',
} as const;

interface InvitationsSetUp {
  readonly orgId: string;
  readonly author: string;
  /** Returns the id that the example names, or a new one. */
  readonly idOf: (exampleId: string) => string;
}

/** Inserts the invitations, and returns the id of the pending one. */
export async function arrangeInvitations(
  { rows }: Makers,
  { orgId, author, idOf }: InvitationsSetUp,
): Promise<{ invitation: string }> {
  const invitation = idOf(exampleIds.pending);
  for (const [id, email, days] of [
    [invitation, 'nina@example.com', 7],
    [idOf(exampleIds.expired), 'elif@example.com', -1],
  ] as const) {
    await rows(
      `insert into invitations (org_id, id, email, role, invited_by, expires_at, sent_at)
       values ($1, $2, $3, 'member', $4, now() + make_interval(days => $5), now() - interval '1 day')`,
      orgId,
      id,
      email,
      author,
      days,
    );
  }
  return { invitation };
}
