/** What members set of the ways in which they are told; a choice that is the default is no row. */
import { type Db, type Param, type Query, query, statement } from '@muster/database';
import { sql } from 'kysely';
import { type Choice, defaultChannels } from '../rules/channels.ts';

const choicesOf = statement((param: Param<{ orgId: string; memberId: string }>) =>
  query
    .selectFrom('notification_preferences')
    .select(['kind', 'channel', 'enabled'])
    .where('org_id', '=', param('orgId'))
    .where('member_id', '=', param('memberId')),
);

export const listChoices = (db: Db, orgId: string, memberId: string): Promise<Choice[]> =>
  db.all(choicesOf({ orgId, memberId }));

/** The statement that makes a choice. */
export function setChoice(
  orgId: string,
  memberId: string,
  { kind, channel, enabled }: Choice,
): Query<unknown> {
  if (defaultChannels(kind)[channel] === enabled) {
    return query
      .deleteFrom('notification_preferences')
      .where('org_id', '=', orgId)
      .where('member_id', '=', memberId)
      .where('kind', '=', kind)
      .where('channel', '=', channel);
  }
  return query
    .insertInto('notification_preferences')
    .values({ org_id: orgId, member_id: memberId, kind, channel, enabled })
    .onConflict((conflict) =>
      conflict
        .columns(['org_id', 'member_id', 'kind', 'channel'])
        .doUpdateSet({ enabled, updated_at: sql`now()` }),
    );
}
