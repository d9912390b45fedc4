/** The e-mail about a chat channel or a Slack account that was connected to a member, who may not have done it. */
import { type Db, orgFilter, sql } from '@muster/driver';
import { type ChatService } from '@muster/contract';

interface ConnectedChat {
  readonly memberId: string;
  /** The name that the caller gave to the channel, or the name of the Slack account. */
  readonly name: string;
  readonly service: ChatService | 'slack_account';
  /** The public URL of Muster. */
  readonly baseUrl: string;
}

export const chatServiceNames: Readonly<Record<ChatService, string>> = {
  slack: 'Slack',
  teams: 'Microsoft Teams',
};

/** Prepares the e-mail. Returns null if the member was removed. */
export async function prepareChatMail(
  db: Db,
  { memberId, name, service, baseUrl }: ConnectedChat,
): Promise<{ readonly to: string; readonly subject: string; readonly text: string } | null> {
  const member = await db.find(
    sql<{
      email: string;
      org_name: string;
    }>`select m.email, o.name as org_name from members m join orgs o on o.id = m.org_id
      where ${orgFilter('m')} and m.id = ${memberId}::uuid and m.status = 'active'`,
  );
  if (member === undefined) return null;
  const settings = `${baseUrl.replace(/\/+$/, '')}/console/settings/notifications`;
  const [subject, text] =
    service === 'slack_account'
      ? [
          `A Slack account can now answer as you: ${name}`,
          `The Slack account "${name}" was connected to you in ${member.org_name} on Muster. Answers to questions that are chosen with it in Slack count as yours.`,
        ]
      : [
          `Your notifications are now sent to ${chatServiceNames[service]}: ${name}`,
          `Your notifications in ${member.org_name} on Muster are now also sent to "${name}" in ${chatServiceNames[service]}, also while you are signed out. Everyone in that channel can read them.`,
        ];
  return {
    ...{ to: member.email, subject },
    text: `${text}\n\nIf this wasn’t you, remove it and sign out all other browsers:\n\n  ${settings}\n`,
  };
}
